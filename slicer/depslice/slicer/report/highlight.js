'use strict';
// Python as spans of text; nothing of it is ever parsed as HTML.
const highlight = (() => {
  const KEYWORDS = new Set(('False None True and as assert async await break case class continue ' +
    'def del elif else except finally for from global if import in is lambda match nonlocal not ' +
    'or pass raise return try while with yield').split(' '));
  const TOKEN = new RegExp([
    '(#[^\\n]*)',
    '([rRbBuUfF]{0,2}(?:"""(?:[^\\\\]|\\\\[\\s\\S])*?(?:"""|$)|\'\'\'(?:[^\\\\]|\\\\[\\s\\S])*?(?:\'\'\'|$)' +
      '|"(?:[^"\\\\\\n]|\\\\[\\s\\S])*"?|\'(?:[^\'\\\\\\n]|\\\\[\\s\\S])*\'?))',
    '(@[\\w.]+)',
    '(\\b\\d[\\w.]*)',
    '([A-Za-z_\\u0080-\\uffff][\\w\\u0080-\\uffff]*)',
  ].join('|'), 'g');
  return (text, parent) => {
    let last = 0, previous = '';
    const put = (part, style) => {
      if (!part) return;
      if (!style) { parent.append(part); return; }
      const span = document.createElement('span');
      span.className = style;
      span.textContent = part;
      parent.append(span);
    };
    for (const found of text.matchAll(TOKEN)) {
      put(text.slice(last, found.index));
      const [whole, comment, string, decorator, number, name] = found;
      let style = '';
      if (comment) style = 'c';
      else if (string) style = 's';
      else if (decorator) style = 'd';
      else if (number) style = 'n';
      else if (KEYWORDS.has(name)) style = 'k';
      else if (previous === 'def' || previous === 'class') style = 'f';
      put(whole, style);
      if (name) previous = name;
      last = found.index + whole.length;
    }
    put(text.slice(last));
  };
})();

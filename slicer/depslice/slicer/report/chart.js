'use strict';
const element = (tag, text, parent, style) => {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (style) made.className = style;
  if (parent) parent.append(made);
  return made;
};
const number = value => value.toLocaleString('en');
const plural = (count, noun) => number(count) + ' ' + noun + (count === 1 ? '' : 's');

function themed(button, changed) {
  const kept = () => { try { return localStorage.getItem('depslice-theme'); } catch { return null; } };
  const asked = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme || kept();
    return chosen ? chosen === 'dark' : asked.matches;
  };
  const show = () => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    button.textContent = isDark() ? 'Light' : 'Dark';
    if (changed) changed();
  };
  button.onclick = () => {
    const next = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem('depslice-theme', next); } catch { /* a file may have no storage */ }
    show();
  };
  show();
}

// Tokens (logarithmic) against the share of the slice's definitions that is shown.
function drawChart(parent, {points, items, tokens, tokenizer}, chosen) {
  const W = 820, H = 430, LEFT = 62, RIGHT = 120, TOP = 26, BOTTOM = 54;
  const NS = 'http://www.w3.org/2000/svg';
  const shape = (tag, attributes, into, text) => {
    const made = document.createElementNS(NS, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    into.append(made);
    return made;
  };
  parent.replaceChildren();
  element('p', 'What a context costs, and how much of the slice it has. Sizes by ' + tokenizer + '.',
    parent, 'soft');
  const figure = element('figure', null, parent);
  const svg = shape('svg', {viewBox: `0 0 ${W} ${H}`, role: 'group',
    'aria-label': 'Tokens against definitions shown; the table below has the numbers'}, figure);
  const sizes = points.map(p => Math.max(1, p.tokens));
  const low = Math.log10(Math.min(...sizes) * 0.8), high = Math.log10(Math.max(...sizes) * 1.15);
  const x = value => LEFT + (Math.log10(Math.max(1, value)) - low) / (high - low || 1) * (W - LEFT - RIGHT);
  const y = share => TOP + (1 - share) * (H - TOP - BOTTOM);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    shape('line', {x1: LEFT, x2: W - RIGHT, y1: y(share), y2: y(share), class: 'grid'}, svg);
    shape('text', {x: LEFT - 10, y: y(share) + 4, class: 'tick end'}, svg, share * 100 + '%');
  }
  let lastTick = -1e9;
  for (let power = Math.floor(low); power <= high; power++) {
    for (const lead of [1, 2, 5]) {
      const value = lead * 10 ** power;
      if (Math.log10(value) < low || Math.log10(value) > high || x(value) - lastTick < 44) continue;
      lastTick = x(value);
      shape('line', {x1: x(value), x2: x(value), y1: TOP, y2: H - BOTTOM, class: 'grid'}, svg);
      shape('text', {x: x(value), y: H - BOTTOM + 18, class: 'tick middle'}, svg, number(value));
    }
  }
  shape('text', {x: (LEFT + W - RIGHT) / 2, y: H - 12, class: 'tick middle'}, svg, 'tokens');
  shape('text', {x: LEFT, y: 14, class: 'tick'}, svg,
    'definitions of the slice: solid, in full; dashed, in any form');
  const full = p => (items - p.signature - p.name - p.out) / items;
  const any = p => (items - p.out) / items;
  const told = p => `${p.axis} ${typeof p.value === 'number' ? number(p.value) : p.value}: ` +
    `${number(p.tokens)} tokens, ${plural(p.items, 'definition')}` +
    (p.signature ? `, ${number(p.signature)} as signatures` : '') +
    (p.name ? `, ${number(p.name)} as names` : '') + (p.out ? `, ${number(p.out)} left out` : '');
  const ends = [];
  for (const axis of ['form', 'budget', 'depth', 'certainty', 'strategy']) {
    const mine = points.filter(p => p.axis === axis);
    if (!mine.length) continue;
    const group = shape('g', {class: 'axis ' + axis}, svg);
    const ordered = axis === 'depth' ? mine : [...mine].sort((a, b) => a.tokens - b.tokens);
    const line = share => ordered.map(p => `${x(p.tokens)},${y(share(p))}`).join(' ');
    if (axis === 'budget') shape('polyline', {points: line(any), class: 'dashed'}, group);
    if (axis === 'budget' || axis === 'depth') shape('polyline', {points: line(full)}, group);
    for (const p of ordered) {
      const at = [x(p.tokens), y(full(p))];
      const named = axis === 'strategy' || axis === 'certainty';
      const mark = named
        ? shape('rect', {x: at[0] - 6, y: at[1] - 6, width: 12, height: 12,
            transform: `rotate(45 ${at[0]} ${at[1]})`}, group)
        : shape('circle', {cx: at[0], cy: at[1], r: axis === 'form' ? 5 : 4}, group);
      mark.setAttribute('tabindex', '0');
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', told(p));
      shape('title', {}, mark, told(p));
      const tell = () => { note.textContent = told(p); };
      mark.onmouseenter = tell;
      mark.onfocus = tell;
      if (axis === 'budget' && chosen) {
        mark.onclick = () => chosen(p.value);
        mark.onkeydown = event => { if (event.key === 'Enter') chosen(p.value); };
      }
      if (named) ends.push([at, String(p.value)]);
    }
  }
  // A label stands on the side where no other mark is near.
  ends.forEach(([[left, top], name], k) => {
    if (ends.some(([[l, t]], other) => other > k && Math.hypot(l - left, t - top) < 8)) return;
    const crowded = ends.some(([[l, t]]) => l > left && l - left < 110 && Math.abs(t - top) < 14);
    shape('text', {x: left + (crowded ? -12 : 12), y: top + (top > H - BOTTOM - 20 ? -8 : 15),
      class: crowded ? 'label end' : 'label'}, svg, name);
  });
  const keys = element('p', null, figure, 'keys');
  for (const [axis, name] of [['strategy', 'strategy'], ['certainty', 'certainty'],
    ['depth', 'depth'], ['budget', 'budget'], ['form', 'one form for all']]) {
    if (!points.some(p => p.axis === axis)) continue;
    const key = element('span', null, keys, 'key ' + axis);
    element('i', null, key);
    key.append(name);
  }
  const note = element('p', 'Point at a mark, or move to it with Tab.', figure, 'told');
  note.setAttribute('role', 'status');
  const table = element('table', null, element('div', null, parent, 'scroll'));
  const head = element('tr', null, element('thead', null, table));
  for (const title of ['', 'tokens', 'of slice', 'definitions', 'as signatures', 'as names', 'left out'])
    element('th', title, head).scope = 'col';
  const body = element('tbody', null, table);
  let axis = '';
  for (const p of points) {
    if (p.axis !== axis) {
      axis = p.axis;
      const title = element('th', axis, element('tr', null, body, 'part'));
      title.colSpan = 7;
      title.scope = 'rowgroup';
    }
    const row = element('tr', null, body);
    element('th', typeof p.value === 'number' ? number(p.value) : p.value, row).scope = 'row';
    element('td', number(p.tokens), row);
    element('td', Math.round(p.tokens / tokens * 100) + '%', row);
    element('td', number(p.items), row);
    for (const lost of [p.signature, p.name, p.out]) element('td', lost ? number(lost) : '', row);
  }
}

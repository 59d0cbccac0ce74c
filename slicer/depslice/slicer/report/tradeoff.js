(() => {
  const found = JSON.parse(document.getElementById('data').textContent);
  const at = id => document.getElementById(id);
  const show = place => {
    const one = found[place];
    at('title').textContent = one.target;
    at('counts').textContent = plural(one.items, 'definition') + ', ' + plural(one.tokens, 'token');
    drawChart(at('chart'), one);
  };
  found.forEach((one, place) => { element('option', one.target, at('which')).value = place; });
  at('whichbox').hidden = found.length < 2;
  at('which').onchange = event => show(Number(event.target.value));
  themed(at('theme'));
  show(0);
})();

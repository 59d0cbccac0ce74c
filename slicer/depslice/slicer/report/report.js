(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const {items, edges, stops} = data;
const at = id => document.getElementById(id);
const DRAWN = 2000;
const place = new Map(items.map((item, i) => [item.id, i]));
const out = items.map(() => []), into = items.map(() => []);
for (const e of edges) { out[e[0]].push(e); into[e[1]].push(e); }
const children = items.map(() => []);
items.forEach((item, i) => { if (item.parent !== null) children[item.parent].push(i); });
const isPossible = item => item.reason !== null && item.reason[1] === 'possible';
const short = id => id.slice(id.indexOf(':') + 1);
const FORMS = {f: 'in full', s: 'as signature', n: 'as name', '-': 'left out'};
let current = -1, isChosen = false, stop = stops.length - 1;
const formOf = i => stops[stop].forms[i];

at('title').textContent = data.target;
at('counts').textContent = plural(items.length, 'definition') + ', ' +
  plural(data.tokens, 'token') + ' (' + data.tokenizer + ')';

// --- colours: one for each layer, from the target outwards

const farthest = items.reduce((most, item) => Math.max(most, item.distance), 0);
const isDark = () => document.documentElement.dataset.theme === 'dark';
const hex = (h, saturation, lightness) => '#' + [0, 8, 4].map(n => {
  const k = (n + h / 30) % 12, most = saturation * Math.min(lightness, 1 - lightness);
  const channel = lightness - most * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  return Math.round(255 * channel).toString(16).padStart(2, '0');
}).join('');
const hue = distance => {
  if (distance === 0) return isDark() ? '#f0a36b' : '#c2561a';
  const share = farthest ? distance / farthest : 0;
  return hex(175 + 95 * share, isDark() ? 0.5 : 0.55, isDark() ? 0.62 : 0.43);
};
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// --- the list

// Rows are made once, so that many of them can be filtered and marked while somebody types.
const rows = items.map((item, i) => {
  const button = element('button', null, null);
  button.type = 'button';
  button.tabIndex = -1;
  button.dataset.place = i;
  element('i', null, button);
  element('bdi', short(item.id) || item.id, element('span', null, button));
  button.onclick = () => open(i);
  return button;
});
// Tab reaches one row, and the arrows the others: hundreds would stand between it and the rest.
let first = -1, reached = -1;
function reach() {
  if (reached >= 0) rows[reached].tabIndex = -1;
  reached = current >= 0 && rows[current].isConnected ? current : first;
  if (reached >= 0) rows[reached].tabIndex = 0;
}
const named = items.map(item => item.id.toLowerCase());
function drawList() {
  const wanted = at('search').value.trim().toLowerCase();
  const shown = [];
  let layer = -1, matching = 0;
  first = -1;
  items.forEach((item, i) => {
    if (wanted && !named[i].includes(wanted)) return;
    matching += 1;
    if (first < 0) first = i;
    if (item.distance !== layer) {
      layer = item.distance;
      shown.push(element('h2', layer ? plural(layer, 'reference') + ' away' : 'target', null));
    }
    shown.push(rows[i]);
  });
  at('list').replaceChildren(...shown);
  reach();
  at('found').textContent = plural(matching, 'definition');
}
function markForms() {
  rows.forEach((button, i) => {
    const form = formOf(i), made = button.firstChild;
    made.className = 'dot ' + (form === '-' ? 'out' : form);
    made.style.setProperty('--dot', hue(items[i].distance));
    button.title = items[i].id + ', ' + items[i].kind + ', ' + FORMS[form];
    button.className = form === '-' ? 'out' : '';
  });
}
let marked = -1;
const mark = () => {
  if (marked >= 0) rows[marked].removeAttribute('aria-current');
  marked = current;
  reach();
  if (current < 0) return;
  rows[current].setAttribute('aria-current', 'true');
  rows[current].scrollIntoView({block: 'nearest'});
};
at('search').oninput = drawList;

// --- the graph: a column, or a block of columns, for each distance

let cy = null;
const drawnCount = Math.min(items.length, DRAWN);
const isSmall = drawnCount <= 160;
const positions = [];
const heads = [];
function layOut() {
  const layers = [];
  for (let i = 0; i < drawnCount; i++) (layers[items[i].distance] ||= []).push(i);
  // Rows so that the whole has the shape of its frame.
  const sizes = layers.filter(Boolean).map(layer => layer.length);
  const wide = isSmall ? 155 : 150, gap = isSmall ? 10 : 90;
  const frame = Math.max(0.5, at('cy').clientWidth / Math.max(1, at('cy').clientHeight - 70));
  const across = rows => sizes.reduce((sum, n) => sum + Math.ceil(n / rows) * wide + gap, 0);
  let rows = 5;
  while (rows < Math.max(...sizes) && across(rows) > rows * 26 * frame) rows += 1;
  const used = Math.min(rows, Math.max(...sizes));
  const high = Math.max(26, Math.min(90, across(rows) / frame / (used + 2)));
  const rank = new Map();
  let left = 0;
  layers.forEach((layer, distance) => {
    if (!layer) return;
    // Next to what asked for them, so that references cross little.
    const before = i => items[i].parent === null ? 0 : rank.get(items[i].parent) ?? 0;
    layer.sort((a, b) => before(a) - before(b) || (items[a].id < items[b].id ? -1 : 1));
    const columns = Math.ceil(layer.length / rows);
    const inColumn = Math.ceil(layer.length / columns);
    layer.forEach((i, k) => {
      const column = Math.floor(k / inColumn), row = k % inColumn;
      const count = Math.min(inColumn, layer.length - column * inColumn);
      positions[i] = {x: left + column * wide, y: (row - (count - 1) / 2) * high};
      rank.set(i, k / layer.length);
    });
    heads.push({x: left, y: -(inColumn - 1) / 2 * high - (isSmall ? 30 : 48),
      label: distance ? `${distance}` : 'target', count: layer.length});
    left += columns * wide + gap;
  });
}
// Names that many definitions begin with (a class, a prefix) are what is cut of a long one.
const WIDEST = isSmall ? 125 : 110;
const ruler = document.createElement('canvas').getContext('2d');
ruler.font = `${isSmall ? 13 : 11}px Helvetica Neue, Helvetica, sans-serif`;
const isWide = text => ruler.measureText(text).width > WIDEST;
function labelOf(i) {
  const whole = short(items[i].id) || items[i].id;
  if (!isWide(whole)) return whole;
  const last = whole.slice(whole.lastIndexOf('.') + 1);
  let owner = whole.slice(0, -last.length - 1);
  while (owner && isWide(`${owner}…${last}`)) owner = owner.slice(0, -1);
  if (owner) return `${owner}…${last}`;
  let kept = last.length;
  const middle = () => last.slice(0, Math.ceil(kept / 2)) + '…' + last.slice(last.length - Math.floor(kept / 2));
  if (!isWide(last)) return last;
  while (kept > 2 && isWide(middle())) kept -= 1;
  return middle();
}
const SHAPES = {function: 'ellipse', method: 'round-rectangle', class: 'hexagon',
  variable: 'diamond', module: 'rectangle'};
const styles = () => {
  const ink = css('--ink'), soft = css('--soft'), line = css('--line'), accent = css('--accent');
  const back = css('--back'), warm = css('--warm');
  return [
    {selector: 'node', style: {
      shape: node => SHAPES[node.data('kind')] || 'ellipse',
      width: 14, height: 14, label: 'data(label)', color: ink, 'font-size': isSmall ? 13 : 11,
      'text-valign': 'center', 'text-halign': 'right', 'text-margin-x': 5,
      'min-zoomed-font-size': isSmall ? 5 : 7,
      'text-background-color': back, 'text-background-opacity': 0.75, 'text-background-padding': 1,
      'background-color': node => hue(node.data('distance')),
      'border-color': node => hue(node.data('distance')), 'border-width': 2}},
    {selector: 'node.target', style: {width: 22, height: 22, 'font-weight': 'bold'}},
    {selector: 'node.head', style: {'background-opacity': 0, 'border-width': 0, width: 1, height: 1,
      color: soft, 'font-size': isSmall ? 13 : 26, 'min-zoomed-font-size': 4, events: 'no',
      'text-margin-x': -8}},
    {selector: 'node.s', style: {'background-fill': 'linear-gradient',
      'background-gradient-stop-colors': node => `${hue(node.data('distance'))} ${back}`,
      'background-gradient-stop-positions': '50% 50%', 'background-gradient-direction': 'to-right'}},
    {selector: 'node.n', style: {'background-color': back}},
    {selector: 'node.possible', style: {'border-style': 'dashed', 'border-color': warm}},
    {selector: 'node.out', style: {opacity: 0.18}},
    {selector: 'edge', style: {width: 1, 'line-color': soft, opacity: isSmall ? 0.5 : 0.28,
      'curve-style': drawnCount > 500 ? 'haystack' : 'bezier', 'haystack-radius': 0,
      'target-arrow-shape': 'triangle', 'target-arrow-color': soft, 'arrow-scale': 0.7}},
    {selector: 'edge.possible', style: {'line-style': 'dashed', 'line-color': warm,
      'target-arrow-color': warm}},
    {selector: 'edge.extra', style: {display: 'none'}},
    {selector: 'edge.extra.shown', style: {display: 'element'}},
    {selector: 'edge.out', style: {opacity: 0.05}},
    {selector: '.dim', style: {opacity: 0.15}},
    {selector: 'node.near', style: {'min-zoomed-font-size': 0, opacity: 1}},
    {selector: 'edge.near', style: {display: 'element', width: 1.5, opacity: 0.9,
      'line-color': ink, 'target-arrow-color': ink, 'curve-style': 'bezier'}},
    {selector: 'edge.near.possible', style: {'line-color': warm, 'target-arrow-color': warm}},
    {selector: 'edge.chain', style: {display: 'element', width: 3, opacity: 1, 'line-color': accent,
      'target-arrow-color': accent, 'curve-style': 'bezier', 'z-index': 9}},
    {selector: 'node.chain', style: {opacity: 1, 'min-zoomed-font-size': 0}},
    {selector: 'node.current', style: {'overlay-color': accent, 'overlay-opacity': 0.28,
      'overlay-padding': 6, 'min-zoomed-font-size': 0, 'z-index': 10}},
    {selector: 'node.pointed', style: {'min-zoomed-font-size': 0, label: 'data(whole)', 'z-index': 11}},
    {selector: 'core', style: {'active-bg-opacity': 0.1}},
  ];
};
function drawGraph() {
  layOut();
  const elements = heads.map((head, k) => ({data: {id: 'h' + k, distance: 0, kind: '', label: head.label +
    (head.count > 1 ? `  (${number(head.count)})` : '')}, position: head, classes: 'head',
    selectable: false, grabbable: false}));
  for (let i = 0; i < drawnCount; i++) {
    elements.push({data: {id: 'n' + i, place: i, label: labelOf(i), whole: short(items[i].id) || items[i].id,
      kind: items[i].kind, distance: items[i].distance}, position: positions[i], grabbable: false,
      classes: (items[i].distance ? '' : 'target ') + (isPossible(items[i]) ? 'possible' : '')});
  }
  edges.forEach((e, k) => {
    if (e[0] >= drawnCount || e[1] >= drawnCount) return;
    const isReason = items[e[1]].parent === e[0];
    elements.push({data: {id: 'e' + k, source: 'n' + e[0], target: 'n' + e[1]},
      classes: (isReason ? 'reason' : 'extra') + (e[3] ? ' possible' : '')});
  });
  cy = cytoscape({container: at('cy'), elements, style: styles(), layout: {name: 'preset', fit: false},
    minZoom: 0.03, maxZoom: 4, boxSelectionEnabled: false, autoungrabify: true,
    hideEdgesOnViewport: drawnCount > 800, textureOnViewport: drawnCount > 800});
  cy.on('tap', 'node[place]', event => open(event.target.data('place')));
  cy.on('tap', event => { if (event.target === cy) clear(); });
  cy.on('mouseover', 'node[place]', event => event.target.addClass('pointed'));
  cy.on('mouseout', 'node[place]', event => event.target.removeClass('pointed'));
  restyle();
  at('graph').dataset.drawn = drawnCount;
}
// All of it when that can be read, else the first layers.
function overview(whole) {
  if (!cy) return;
  cy.fit(undefined, 30);
  if (!whole && cy.zoom() < 0.5) {
    cy.zoom(0.62);
    const target = cy.getElementById('n0').renderedPosition();
    cy.panBy({x: 60 - target.x, y: cy.height() / 2 - target.y});
  } else if (cy.zoom() > 1.3) { cy.zoom(1.3); cy.center(); }
}
function restyle() {
  if (!cy) return;
  const all = at('all').checked;
  cy.batch(() => {
    for (let i = 0; i < drawnCount; i++) {
      const node = cy.getElementById('n' + i), form = formOf(i);
      node.toggleClass('s', form === 's').toggleClass('n', form === 'n').toggleClass('out', form === '-');
    }
    cy.edges().forEach(edge => {
      edge.toggleClass('out', edge.source().hasClass('out') || edge.target().hasClass('out'));
      if (edge.hasClass('extra')) edge.toggleClass('shown', all);
    });
    cy.elements().removeClass('chain near current dim');
    if (!isChosen || current < 0 || current >= drawnCount) return;
    const node = cy.getElementById('n' + current);
    cy.elements().not('.head').addClass('dim');
    node.closedNeighborhood().removeClass('dim').addClass('near');
    for (const i of chain(current)) {
      if (i >= drawnCount) continue;
      const step = cy.getElementById('n' + i);
      step.removeClass('dim').addClass('chain');
      const above = items[i].parent;
      if (above !== null) step.edgesWith(cy.getElementById('n' + above)).filter(edge =>
        edge.target().same(step)).removeClass('dim').addClass('chain');
    }
    node.addClass('current');
  });
}
function chain(i) {
  const steps = [];
  for (let seen = new Set(); i !== null && !seen.has(i); i = items[i].parent) {
    seen.add(i);
    steps.push(i);
  }
  return steps.reverse();
}
function legend() {
  const parent = at('legend');
  const entry = (text, style, tag = 'i') => {
    const span = element('span', null, parent);
    element(tag, null, span, style);
    span.append(text);
  };
  entry('in full', 'dot f');
  entry('signature', 'dot s');
  entry('name', 'dot n');
  entry('left out', 'dot out');
  entry('definite', '');
  entry('possible', 'possible');
  const shapes = element('span', '● function  ▢ method  ⬡ class  ◆ variable', parent);
  shapes.title = 'Shapes of definitions';
  if (drawnCount < items.length)
    element('span', `the nearest ${number(drawnCount)} of ${number(items.length)} are drawn`, parent);
}

// --- one definition

// A long id is broken between its names, if it can be.
const identifier = (id, parent) => {
  id.split(/(?<=[.:])/).forEach((part, k) => {
    if (k) element('wbr', null, parent);
    parent.append(part);
  });
};
const link = (i, parent) => {
  const button = element('button', null, parent, 'link');
  identifier(items[i].id, button);
  button.type = 'button';
  button.onclick = () => open(i);
};
const code = (text, parent, lost) => {
  highlight(text.replace(/\n$/, ''), element('pre', null, parent, lost ? 'lost' : ''));
};
function drawDetail() {
  const parent = at('detail');
  parent.replaceChildren();
  if (current < 0) {
    element('p', 'Choose a definition, in the graph or in the list.', parent, 'soft');
    return;
  }
  const item = items[current], form = formOf(current);
  const back = element('button', 'Back', parent, 'back');
  back.type = 'button';
  back.onclick = () => scrollTo(0, left);
  identifier(item.id, element('h2', null, parent));
  const badges = element('p', null, parent);
  element('span', item.kind, badges, 'badge');
  element('span', item.distance ? plural(item.distance, 'reference') + ' away' : 'target', badges, 'badge');
  if (isPossible(item)) element('span', 'possible', badges, 'badge warm');
  if (form !== 'f') element('span', FORMS[form] + ' at this budget', badges, 'badge warm');
  element('p', `${item.path}:${item.line}`, parent, 'soft mono');
  element('h3', form === 'f' || form === '-' ? 'Code' : 'Code, ' + FORMS[form], parent);
  const shown = form === '-' ? item.code.f : item.code[form];
  if (shown) code(shown, parent, form === '-');
  else element('p', 'Nothing of its own is in the slice: its parts are.', parent, 'soft');
  if (form === 's' || form === 'n') {
    const more = element('details', null, parent);
    element('summary', 'in full', more);
    more.ontoggle = () => { if (more.open && more.children.length === 1) code(item.code.f, more); };
  }
  element('h3', 'Why it is here', parent);
  const steps = chain(current).slice(1);
  if (!steps.length) element('p', 'It is the target.', parent);
  const why = element('ol', null, parent, 'why');
  for (const i of steps) {
    const [kind, certainty, evidence, path, line, text] = items[i].reason;
    const row = element('li', null, why, certainty);
    link(items[i].parent, row);
    element('div', `${kind} (${certainty}, ${evidence}) at ${path}:${line}`, row, 'soft');
    if (text) code(text, row);
  }
  if (steps.length) link(current, element('li', null, why));
  const related = (title, list, end) => {
    if (!list.length) return;
    element('h3', `${title} (${number(list.length)})`, parent);
    const rows = element('ul', null, parent, 'links');
    for (const e of list.slice(0, 60)) {
      const row = element('li', null, rows);
      link(e[end], row);
      element('small', e[2] + (e[3] ? ', possible' : ''), row);
    }
    if (list.length > 60) element('li', `… and ${number(list.length - 60)} more`, rows, 'soft');
  };
  related('Asks for', out[current], 1);
  related('Asked for by', into[current], 0);
}
function select(i, {focus = true} = {}) {
  current = i;
  isChosen = isChosen || focus;
  try { history.replaceState(null, '', '#' + encodeURIComponent(items[i].id)); } catch { /* about: */ }
  mark();
  drawDetail();
  at('detail').scrollTop = 0;
  restyle();
  if (cy && focus && i < drawnCount) {
    const spot = cy.getElementById('n' + i).renderedPosition();
    const inside = spot.x > 20 && spot.y > 20 && spot.x < cy.width() - 40 && spot.y < cy.height() - 40;
    if (!inside) cy.center(cy.getElementById('n' + i));
  }
}
// Where the parts stand one below another, what is told of a definition is out of sight.
const isStacked = () => getComputedStyle(document.querySelector('main')).display === 'flex';
let left = 0;
function open(i) {
  select(i);
  if (!isStacked()) return;
  const top = at('detail').getBoundingClientRect().top;
  if (top > 0) left = scrollY;  // not of a link within the details
  at('detail').scrollIntoView();
}
function clear() {
  current = -1;
  isChosen = false;
  mark();
  drawDetail();
  restyle();
}

// --- the budget

const slider = at('budget');
slider.max = stops.length - 1;
slider.value = stop;
function drawBudget() {
  const {budget, tokens, forms} = stops[stop];
  const count = {f: 0, s: 0, n: 0, '-': 0};
  for (const form of forms) count[form] += 1;
  const spent = at('spent');
  spent.replaceChildren();
  element('b', budget === null ? 'none' : number(budget), spent);
  spent.append(` · ${number(tokens)} tokens · ` + Object.entries(count).filter(([, n]) => n)
    .map(([form, n]) => `${number(n)} ${FORMS[form]}`).join(', '));
  slider.setAttribute('aria-valuetext', spent.textContent);
}
function setStop(value) {
  stop = Math.max(0, Math.min(stops.length - 1, value));
  slider.value = stop;
  drawBudget();
  markForms();
  if (current >= 0) drawDetail();
  restyle();
}
slider.oninput = () => setStop(Number(slider.value));
slider.disabled = stops.length < 2;

// --- views

const TABS = ['graph', 'chart', 'notes'];
const drawnViews = new Set(['graph']);
function view(name) {
  for (const each of TABS) {
    const tab = at('tab-' + each);
    tab.setAttribute('aria-selected', each === name);
    tab.tabIndex = each === name ? 0 : -1;
    at(each).hidden = each !== name;
  }
  at('budgeting').hidden = name === 'notes';
  at('allbox').hidden = at('fit').hidden = name !== 'graph';
  if (drawnViews.has(name)) return;
  drawnViews.add(name);
  if (name === 'chart') {
    drawChart(at('chart'), {points: data.tradeoff, items: items.length, tokens: data.tokens,
      tokenizer: data.tokenizer}, budget => {
      const near = stops.findIndex(each => each.budget === null || each.budget >= budget);
      setStop(near);
    });
  }
  if (name === 'notes') drawNotes();
}
for (const name of TABS) {
  const tab = at('tab-' + name);
  tab.onclick = () => view(name);
  tab.onkeydown = event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const next = TABS[(TABS.indexOf(name) + step + TABS.length) % TABS.length];
    view(next);
    at('tab-' + next).focus();
    event.stopPropagation();
  };
}
function drawNotes() {
  const parent = at('notes');
  element('h3', `Names that analysis could not resolve (${number(data.unresolved.length)})`, parent);
  if (!data.unresolved.length) element('p', 'None.', parent);
  const table = element('table', null, parent);
  for (const [source, name, reason, line] of data.unresolved.slice(0, 1000)) {
    const row = element('tr', null, table);
    element('td', name, row, 'mono');
    element('td', reason, row, 'soft reason');
    const where = element('td', null, row);
    if (place.has(source)) link(place.get(source), where);
    else where.textContent = source;
    where.append(' ', element('small', 'line ' + line, null, 'soft reason'));
  }
  if (data.unresolved.length > 1000) element('p', 'The first 1,000 are shown.', parent, 'soft');
  element('h3', `Imported from outside the repository (${number(data.externals.length)})`, parent);
  element('p', data.externals.join(', ') || 'Nothing.', parent, 'mono');
}

// --- keys

at('help').onclick = () => {
  at('keys').hidden = !at('keys').hidden;
  at('help').setAttribute('aria-expanded', !at('keys').hidden);
};
at('fit').onclick = () => overview(true);
at('all').onchange = restyle;
function beside(step) {
  const inList = document.activeElement && at('list').contains(document.activeElement);
  if (inList || document.activeElement === at('search')) {
    const buttons = [...at('list').querySelectorAll('button')];
    const from = inList ? buttons.indexOf(document.activeElement) : -1;
    const next = buttons[from + step];
    if (next) { next.focus(); select(Number(next.dataset.place)); }
    else if (from + step < 0) at('search').focus();
    return;
  }
  if (current < 0) { select(0); return; }
  const layer = [];
  for (let i = 0; i < drawnCount; i++) if (items[i].distance === items[current].distance) layer.push(i);
  layer.sort((a, b) => positions[a].x - positions[b].x || positions[a].y - positions[b].y);
  const next = layer[layer.indexOf(current) + step];
  if (next !== undefined) select(next);
}
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches('input[type=search], select');
  const sliding = event.target === slider;
  if (event.key === 'Escape') {
    if (typing && at('search').value) { at('search').value = ''; drawList(); } else clear();
    if (typing) event.target.blur();  // the next key is a command again
    return;
  }
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (sliding) return;
    event.preventDefault();
    beside(event.key === 'ArrowDown' ? 1 : -1);
    return;
  }
  if (typing) {
    if (event.key === 'Enter') { const first = at('list').querySelector('button'); if (first) first.click(); event.target.blur(); }
    return;
  }
  const act = {
    '/': () => { at('search').focus(); at('search').select(); },
    '[': () => setStop(stop - 1),
    ']': () => setStop(stop + 1),
    '0': () => overview(true),
    '+': () => cy && cy.zoom({level: cy.zoom() * 1.3, renderedPosition: {x: cy.width() / 2, y: cy.height() / 2}}),
    '-': () => cy && cy.zoom({level: cy.zoom() / 1.3, renderedPosition: {x: cy.width() / 2, y: cy.height() / 2}}),
    ArrowLeft: () => { if (current >= 0 && items[current].parent !== null) select(items[current].parent); },
    ArrowRight: () => {
      const next = current < 0 ? 0 : children[current][0] ?? out[current].map(e => e[1]).find(i =>
        items[i].distance > items[current].distance);
      if (next !== undefined) select(next);
    },
  }[event.key];
  if (!act || (sliding && event.key.startsWith('Arrow'))) return;
  event.preventDefault();
  act();
});

themed(at('theme'), () => { if (cy) cy.style(styles()); markForms(); });
drawList();
drawBudget();
legend();
drawGraph();
let asked;
try { asked = place.get(decodeURIComponent(location.hash.slice(1))); } catch { asked = undefined; }
overview(false);
// The target is told of, but nothing is faded until something is chosen.
if (asked === undefined) select(0, {focus: false});
else open(asked);
let waiting = 0;
new ResizeObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(() => cy.resize(), 100);
}).observe(at('cy'));
})();

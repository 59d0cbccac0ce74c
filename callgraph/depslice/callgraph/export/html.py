"""The ``html`` form: one file, no network; a searchable list and the graph around one symbol."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING, Any

from depslice.callgraph.export.drawn import draw
from depslice.callgraph.model import Certainty

if TYPE_CHECKING:
    from depslice.callgraph.graph import ReferenceGraph


def export_html(
    graph: ReferenceGraph,
    *,
    title: str = "Reference graph",
    externals: bool = False,
    starts: Sequence[str] = (),
) -> str:
    """A self-contained page; selecting a symbol shows what refers to it and what it refers to.

    It opens with the first of ``starts`` that it has, or with what has most references.
    """
    # Names of analysed code are data here. The digest keeps any other script from running.
    digest = hashlib.sha256(_SCRIPT.encode()).digest()
    return Template(_PAGE).substitute(
        title=html.escape(title),
        digest=base64.b64encode(digest).decode(),
        style=_STYLE,
        script=_SCRIPT,
        data=_embedded(_page_data(graph, externals=externals, starts=starts)),
        noscript=_plain_list(graph, externals=externals),
    )


def _page_data(graph: ReferenceGraph, *, externals: bool, starts: Sequence[str]) -> dict[str, Any]:
    """What the script draws.

    Nodes are ``[id, label, group, kind, path, line]``, edges ``[source, target,
    kind, possible, lines, evidence]`` with indices of nodes, and ``start`` is one, or -1.
    """
    drawing = draw(graph, externals=externals)
    places = {symbol.id: (symbol.path, symbol.span.start) for symbol in graph.symbols}
    index: dict[str, int] = {}
    nodes = []
    for group, members in drawing.groups.items():
        for node in members:
            index[node.id] = len(index)
            path, line = places.get(node.id, ("", 0))
            nodes.append([node.id, node.label, group, node.kind, path, line])
    edges = [
        [
            index[edge.source],
            index[edge.target],
            edge.kind.value,
            int(edge.certainty is Certainty.POSSIBLE),
            sorted({site.line for site in edge.sites}),
            ", ".join(edge.evidence),
        ]
        for edge in drawing.edges
    ]
    return {
        "nodes": nodes,
        "edges": edges,
        "start": next((index[each] for each in starts if each in index), -1),
    }


def _embedded(data: dict[str, Any]) -> str:
    # `</script>` and `<!--` in analysed names must not end or change the script element.
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain_list(graph: ReferenceGraph, *, externals: bool) -> str:
    """The references as nested lists, for readers without JavaScript; the first thousand."""
    shown = draw(graph, externals=externals).edges
    items = "".join(
        f"<li>{html.escape(edge.source)} &rarr; {html.escape(edge.target)} ({edge.kind.value})</li>"
        for edge in shown[:1000]
    )
    more = f"<p>… and {len(shown) - 1000} more.</p>" if len(shown) > 1000 else ""
    return f"<ul>{items}</ul>{more}"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-$digest'">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header><h1>$title</h1><p id="counts"></p></header>
<main>
<nav aria-label="Symbols">
<input id="search" type="search" placeholder="Find a symbol (/) …" aria-label="Find a symbol"
 autocomplete="off" aria-keyshortcuts="/">
<div id="kinds" role="group" aria-label="Kinds of reference"></div>
<div id="list"></div>
</nav>
<section>
<h2 id="name" aria-live="polite"></h2>
<p id="place"></p>
<div id="drawing"></div>
<table><thead><tr><th>reference</th><th>symbol</th><th>lines</th><th>evidence</th></tr></thead>
<tbody id="rows"></tbody></table>
</section>
</main>
<noscript>$noscript</noscript>
<script id="data" type="application/json">$data</script>
<script>$script</script>
</body>
</html>
"""

_STYLE = """
:root{--ink:#1c2733;--soft:#5b6b7b;--line:#d8e0e8;--back:#f6f8fa;--card:#fff;--accent:#1f5fa8}
@media (prefers-color-scheme:dark){:root{--ink:#e4eaf0;--soft:#9aa9b8;--line:#33404d;
--back:#151b22;--card:#1d252e;--accent:#7ab4f5}}
*{box-sizing:border-box}
body{margin:0;font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);
height:100vh;display:flex;flex-direction:column}
header{display:flex;gap:1rem;align-items:baseline;padding:.7rem 1.2rem;
border-bottom:1px solid var(--line);background:var(--card)}
h1{font-size:1.1rem;margin:0}header p,#place{margin:0;color:var(--soft)}
main{flex:1;display:flex;min-height:0}
nav{width:21rem;display:flex;flex-direction:column;border-right:1px solid var(--line);
background:var(--card)}
#search{margin:.8rem .8rem .4rem;padding:.45rem .6rem;border:1px solid var(--line);
border-radius:6px;font:inherit;color:inherit;background:var(--back)}
#kinds{padding:0 .8rem .5rem;display:flex;flex-wrap:wrap;gap:.15rem .7rem;color:var(--soft);
font-size:12px}
#kinds label{display:flex;gap:.25rem;align-items:center}
#list{overflow:auto;flex:1;padding:0 .4rem 1rem}
#list h3{font:600 12px/1.4 ui-monospace,monospace;color:var(--soft);margin:.8rem .4rem .2rem;
overflow-wrap:anywhere}
#list button{display:flex;justify-content:space-between;gap:.5rem;width:100%;text-align:left;
border:0;background:none;color:inherit;font:13px ui-monospace,monospace;padding:.15rem .4rem;
border-radius:4px;cursor:pointer;overflow-wrap:anywhere}
#list button:hover,#list button:focus-visible{background:var(--back)}
#list button[aria-current=true]{background:var(--accent);color:var(--card)}
#list small{opacity:.6;flex:none}
section{flex:1;overflow:auto;padding:1rem 1.4rem}
h2{font:600 1rem ui-monospace,monospace;margin:0 0 .1rem;overflow-wrap:anywhere}
#drawing{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:8px;
overflow:auto}
svg{display:block}svg text{font:12px ui-monospace,monospace;fill:var(--ink)}
svg rect{fill:var(--back);stroke:var(--line)}svg g.node{cursor:pointer}
svg g.node:hover rect,svg g.node:focus-visible rect{stroke:var(--accent)}
svg g.focus rect{fill:var(--accent);stroke:none}svg g.focus text{fill:var(--card)}
svg path{fill:none;stroke-width:1.4}svg .head{fill:var(--soft);font:11px system-ui,sans-serif}
table{border-collapse:collapse;width:100%;font-size:13px}
th{text-align:left;color:var(--soft);font-weight:600}
th,td{padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}
td a{color:var(--accent);cursor:pointer;font-family:ui-monospace,monospace}
@media (max-width:50rem){main{flex-direction:column}nav{width:auto;max-height:40vh}}
"""

_SCRIPT = """
'use strict';
(() => {
const {nodes, edges, start: opened} = JSON.parse(document.getElementById('data').textContent);
const at = id => document.getElementById(id);
const COLOURS = {call:'#3d87d6', read:'#84909c', write:'#cf7524', inherit:'#359c52',
  decorate:'#a65bc9', annotate:'#98961f', import:'#a3adb8'};
const hidden = new Set();
const out = nodes.map(() => []), into = nodes.map(() => []);
for (const e of edges) { out[e[0]].push(e); into[e[1]].push(e); }
let current = -1;
const element = (tag, text, parent) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const shape = (tag, attributes, parent, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
};
const visible = list => list.filter(e => !hidden.has(e[2]));
at('counts').textContent = nodes.length.toLocaleString('en') + ' symbols with references, ' +
  edges.length.toLocaleString('en') + ' references';

const LIMIT = 400, ROWS = 30;
function drawList() {
  const wanted = at('search').value.toLowerCase();
  const list = at('list');
  list.replaceChildren();
  let group = null, shown = 0, left = 0;
  nodes.forEach((node, i) => {
    if (wanted && !node[0].toLowerCase().includes(wanted)) return;
    if (shown === LIMIT) { left += 1; return; }
    shown += 1;
    if (node[2] !== group) { group = node[2]; element('h3', group, list); }
    const button = element('button', undefined, list);
    element('span', node[1], button);
    element('small', node[3], button);
    button.dataset.place = i;
    button.onclick = () => select(i);
  });
  if (!shown) element('p', 'Nothing found.', list);
  if (left) element('p', '… and ' + left.toLocaleString('en') + ' more: narrow the search.', list);
  markCurrent();
}
// The list stays as it is when a symbol is chosen, and with it the keyboard's focus.
function markCurrent() {
  for (const button of at('list').querySelectorAll('button')) {
    const isCurrent = Number(button.dataset.place) === current;
    if (isCurrent) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
    if (isCurrent) button.scrollIntoView({block: 'nearest'});
  }
}
const cut = (text, most) => text.length > most ? '…' + text.slice(1 - most) : text;
function drawFocus() {
  // A box for each symbol, with a curve for each kind of reference.
  const grouped = (list, end) => {
    const found = new Map();
    for (const e of visible(list)) found.set(e[end], [...(found.get(e[end]) || []), e]);
    return [...found.values()];
  };
  const callers = grouped(into[current], 0), callees = grouped(out[current], 1);
  const before = callers.slice(0, ROWS), after = callees.slice(0, ROWS);
  // As wide as there is room, down to what can be read; what is narrower shows the middle.
  const drawing = at('drawing'), H = 26, GAP = 12, SPACE = 90, TOP = 34;
  const W = Math.max(190, Math.min(270, (drawing.clientWidth - 2 * SPACE - 34) / 3));
  const rows = Math.max(before.length, after.length, 1);
  const height = TOP + rows * (H + GAP) + GAP, width = 3 * W + 2 * SPACE + 32;
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('width', width); svg.setAttribute('height', height);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'References to and from ' + nodes[current][0]);
  const middle = TOP + (height - TOP) / 2 - H / 2;
  const x = [16, 16 + W + SPACE, 16 + 2 * (W + SPACE)];
  const start = list => middle - (list.length * (H + GAP) - GAP) / 2 + H / 2;
  const box = (i, left, top, focus) => {
    const g = shape('g', {class: focus ? 'focus' : 'node', tabindex: focus ? -1 : 0}, svg);
    shape('title', {}, g, nodes[i][0]);
    shape('rect', {x: left, y: top, width: W, height: H, rx: 5}, g);
    shape('text', {x: left + 10, y: top + 17}, g, cut(nodes[i][1], Math.floor((W - 14) / 7.4)));
    if (!focus) {
      g.onclick = () => select(i);
      g.onkeydown = event => { if (event.key === 'Enter') select(i); };
    }
  };
  const curve = (e, x1, y1, x2, y2) => {
    const mid = (x1 + x2) / 2;
    const path = shape('path', {d: `M${x1},${y1} C${mid},${y1} ${mid},${y2} ${x2},${y2}`,
      stroke: COLOURS[e[2]]}, svg);
    if (e[3]) path.setAttribute('stroke-dasharray', '5 4');
    shape('title', {}, path, e[2] + (e[3] ? ' (possible)' : ''));
    shape('path', {d: `M${x2 - 6},${y2 - 4} L${x2},${y2} L${x2 - 6},${y2 + 4}`,
      stroke: COLOURS[e[2]]}, svg);
  };
  const more = (list, kept) => list.length > kept.length ? ` (first ${kept.length} of ` +
    `${list.length})` : '';
  shape('text', {x: x[0], y: 20, class: 'head'}, svg,
    before.length ? 'refer to it' + more(callers, before) : 'nothing shown refers to it');
  shape('text', {x: x[2], y: 20, class: 'head'}, svg,
    after.length ? 'it refers to' + more(callees, after) : 'it refers to nothing shown');
  const apart = (list, k) => (k - (list.length - 1) / 2) * 6;
  before.forEach((list, row) => {
    const top = start(before) + row * (H + GAP);
    list.forEach((e, k) => curve(e, x[0] + W, top + H / 2 + apart(list, k), x[1],
      middle + H / 2 + apart(list, k)));
    box(list[0][0], x[0], top, false);
  });
  after.forEach((list, row) => {
    const top = start(after) + row * (H + GAP);
    list.forEach((e, k) => curve(e, x[1] + W, middle + H / 2 + apart(list, k), x[2],
      top + H / 2 + apart(list, k)));
    box(list[0][1], x[2], top, false);
  });
  box(current, x[1], middle, true);
  drawing.replaceChildren(svg);
  drawing.scrollLeft = (width - drawing.clientWidth) / 2;
}
function drawRows() {
  const rows = at('rows');
  rows.replaceChildren();
  const add = (e, other, verb) => {
    const row = element('tr', undefined, rows);
    element('td', verb + (e[3] ? ' (possible)' : ''), row);
    const link = element('a', nodes[other][0], element('td', undefined, row));
    link.tabIndex = 0;
    link.onclick = () => select(other);
    link.onkeydown = event => { if (event.key === 'Enter') select(other); };
    element('td', e[4].join(', '), row);
    element('td', e[5], row);
  };
  for (const e of visible(out[current])) add(e, e[1], e[2] + ' →');
  for (const e of visible(into[current])) add(e, e[0], '← ' + e[2]);
}
function draw() {
  if (current < 0) return;
  const node = nodes[current];
  at('name').textContent = node[0];
  at('place').textContent = node[3] + (node[4] ? ' in ' + node[4] + ', line ' + node[5] : '');
  drawFocus();
  drawRows();
}
function select(i) {
  current = i;
  history.replaceState(null, '', '#' + encodeURIComponent(nodes[i][0]));
  draw();
  markCurrent();
}
for (const kind of Object.keys(COLOURS)) {
  if (!edges.some(e => e[2] === kind)) continue;
  const label = element('label', undefined, at('kinds'));
  const tick = element('input', undefined, label);
  tick.type = 'checkbox'; tick.checked = true;
  tick.onchange = () => { tick.checked ? hidden.delete(kind) : hidden.add(kind); draw(); };
  element('span', kind, label).style.color = COLOURS[kind];
}
at('search').oninput = drawList;
document.onkeydown = event => {
  const isTyping = event.target === at('search');
  if (event.key === '/' && !isTyping) { event.preventDefault(); at('search').focus(); return; }
  if (event.key === 'Enter' && isTyping) { at('list').querySelector('button')?.click(); return; }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const buttons = [...at('list').querySelectorAll('button')];
  const place = buttons.indexOf(document.activeElement);
  if (place < 0 && !isTyping) return;
  event.preventDefault();
  const next = place + (event.key === 'ArrowDown' ? 1 : -1);
  if (next < 0) at('search').focus(); else buttons[next]?.focus();
};
let asked = -1;
try {
  asked = nodes.findIndex(n => n[0] === decodeURIComponent(location.hash.slice(1)));
} catch (error) { asked = -1; }
if (asked >= 0) current = asked;
else if (opened >= 0) current = opened;
else nodes.forEach((_, i) => {
  const degree = k => out[k].length + into[k].length;
  if (current < 0 || degree(i) > degree(current)) current = i;
});
draw();
drawList();
})();
"""

// Zoom, one cursor through all charts, values under it, series on and off. Without it the page is whole, but still.
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const W = 460, H = 230, L = 56, R = 12, T = 20, B = 34, NS = 'http://www.w3.org/2000/svg';
  const S = [Math.cos(Math.PI / 6), Math.sin(Math.PI / 6)];
  const cards = [...document.querySelectorAll('[data-chart]')].map((node) => ({
    node, svg: node.querySelector('svg'), ...charts[+node.dataset.chart], hidden: new Set(), window: null, turn: null,
  }));
  const over = cards.filter((c) => c.kind === 'lines');
  const short = (x) => String(+(+x).toPrecision(5)).replace('e+', 'e');
  const part = (card, name) => card.svg.querySelector('.' + name);

  function ticks(low, high) {
    const span = (high - low) / 5, power = 10 ** Math.floor(Math.log10(span));
    const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((s) => s >= span * (1 - 1e-9));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) found.push(k * step);
    return found;
  }
  const X = (t, b) => L + (t - b[0]) / (b[1] - b[0] || 1) * (W - L - R);
  const Y = (y, b) => H - B - (y - b[2]) / (b[3] - b[2]) * (H - T - B);
  const text = (x, y, anchor, words) => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;

  function axes(card, b) {
    let out = '';
    for (const y of ticks(b[2], b[3])) {
      const at = Y(y, b);
      out += `<path class="grid" d="M${L} ${at.toFixed(1)}H${W - R}"/>` + text(L - 6, at + 3.5, 'end', short(y));
    }
    for (const t of b[1] > b[0] ? ticks(b[0], b[1]) : [b[0]]) {
      const at = X(t, b);
      out += `<path class="grid" d="M${at.toFixed(1)} ${T}V${H - B}"/>` + text(at, H - B + 14, 'middle', short(t));
    }
    return out + `<path class="frame" d="M${L} ${T}V${H - B}H${W - R}"/>`;
  }
  function path(ts, ys, b) {
    let out = '', pen = false;
    for (let k = 0; k < ts.length; k++) {
      if (ys[k] === null || ts[k] === null) { pen = false; continue; }
      out += (pen ? 'L' : 'M') + X(ts[k], b).toFixed(1) + ' ' + Y(ys[k], b).toFixed(1);
      pen = true;
    }
    return out;
  }
  // of line k, the values from one beyond the window on each side
  function cut(line, b) {
    let from = line.t.findIndex((t) => t >= b[0]), to = line.t.length - 1;
    while (to > 0 && line.t[to] > b[1]) to--;
    from = Math.max(0, (from < 0 ? 0 : from) - 1);
    return [from, Math.min(line.t.length, to + 2)];
  }
  function height(card, b) {
    let low = Infinity, high = -Infinity;
    shownLines(card).forEach((line) => {
      const [from, to] = cut(line, b);
      for (const key of ['y', 'low', 'high']) for (const y of (line[key] || []).slice(from, to)) {
        if (y !== null) { low = Math.min(low, y); high = Math.max(high, y); }
      }
    });
    if (low > high) return [card.box[2], card.box[3]];
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= 1e-9 * size || size < 1e-9) {
      const half = size < 1e-9 ? 1 : 0.05 * size;
      return [(low + high) / 2 - half, (low + high) / 2 + half];
    }
    const room = 0.05 * (high - low);
    return [low - room, high + room];
  }
  const place = (card, k) => card.count ? k % card.count : k; // the other run's lines have the same buttons
  const shownLines = (card) => card.lines.filter((_, k) => !card.hidden.has(place(card, k)));

  function drawLines(card) {
    const whole = !card.window && !card.hidden.size;
    const across = card.window || [card.box[0], card.box[1]];
    const b = whole ? card.box : [...across, ...height(card, [...across])];
    card.now = b;
    part(card, 'axes').innerHTML = axes(card, b);
    let bands = '', lines = '';
    for (const line of shownLines(card)) {
      const [from, to] = cut(line, b), t = line.t.slice(from, to);
      if (line.low) {
        const edge = path([...t, ...t.slice().reverse()], [...line.low.slice(from, to), ...line.high.slice(from, to).reverse()], b);
        bands += `<path class="band" fill="${line.color}" d="${edge}Z"/>`;
      }
      lines += `<path class="line" stroke="${line.color}"${line.dash ? ' stroke-dasharray="5 3"' : ''} d="${path(t, line.y.slice(from, to), b)}"/>`;
    }
    part(card, 'lines').innerHTML = bands + lines;
    const inside = card.limits.filter((y) => y >= b[2] && y <= b[3]);
    part(card, 'limits').innerHTML = inside.map((y) => `<path class="limit" d="M${L} ${Y(y, b).toFixed(1)}H${W - R}"/>`).join('');
    const group = part(card, 'marks');
    group.replaceChildren();
    let free = 0;
    for (const [t, label] of card.marks) {
      if (t < b[0] || t > b[1]) continue;
      const at = X(t, b), line = document.createElementNS(NS, 'path'), title = document.createElementNS(NS, 'title');
      line.setAttribute('class', 'mark');
      line.setAttribute('d', `M${at.toFixed(1)} ${T}V${H - B}`);
      title.textContent = label;
      line.append(title);
      group.append(line);
      if (at >= free && at + 5.2 * label.length < W) {
        const words = document.createElementNS(NS, 'text');
        for (const [name, value] of [['class', 'mark'], ['x', at + 2], ['y', T - 3]]) words.setAttribute(name, value);
        words.textContent = label;
        group.append(words);
        free = at + 5.2 * label.length + 6;
      }
    }
  }

  // ---- one cursor through all charts
  const nearest = (ts, t) => {
    let low = 0, high = ts.length - 1;
    while (high - low > 1) { const k = (low + high) >> 1; if (ts[k] < t) low = k; else high = k; }
    return high < 0 ? -1 : Math.abs(ts[low] - t) <= Math.abs(ts[high] - t) ? low : high;
  };
  function cursor(t) {
    for (const card of cards) {
      const group = part(card, 'cursor'), legend = card.node.querySelectorAll('.legend output');
      if (t === null) {
        group.innerHTML = '';
        legend.forEach((o) => { o.textContent = ''; });
        continue;
      }
      let out = '';
      const b = card.now || card.box;
      if (card.kind === 'lines') {
        if (t < b[0] || t > b[1]) { group.innerHTML = ''; continue; }
        out = `<path class="cursor" d="M${X(t, b).toFixed(1)} ${T}V${H - B}"/>`;
      }
      card.lines.forEach((line, k) => {
        const ts = line.t || card.t, at = nearest(ts, t), gone = card.hidden.has(place(card, k));
        if (at < 0) return;
        const p = line.p ? flat(card, line.p.map((c) => c[at])) : [ts[at], line.y[at]];
        if (p[0] === null || p[1] === null || gone) return;
        if (!gone) out += `<circle cx="${X(p[0], b).toFixed(1)}" cy="${Y(p[1], b).toFixed(1)}" r="3" fill="${line.color}"/>`;
        if (legend[k] && line.y) legend[k].textContent = short(line.y[at]);
        if (legend[k] && line.p) legend[k].textContent = line.p.map((c) => short(c[at])).join(', ');
      });
      group.innerHTML = out;
    }
    document.getElementById('now').textContent = t === null ? '' : `t = ${short(t)} s`;
  }

  // ---- planes, and space that can be turned
  function flat(card, p) {
    if (card.kind !== 'space' || p.some((x) => x === null)) return p;
    const [a, e] = card.turn || [Math.PI / 4, Math.asin(Math.tan(Math.PI / 6))];
    const [x, y, z] = p, c = Math.cos(a), s = Math.sin(a), scale = Math.sqrt(1.5);
    const deep = x * c + y * s;
    return [scale * (y * c - x * s), scale * (z * Math.cos(e) - deep * Math.sin(e))];
  }
  function drawSpace(card) {
    const b = card.box;
    const flatOf = (line) => line.p[0].map((_, k) => flat(card, line.p.map((c) => c[k])));
    part(card, 'lines').innerHTML = shownLines(card).map((line) => {
      const points = flatOf(line);
      return `<path class="line" stroke="${line.color}" d="${path(points.map((p) => p[0]), points.map((p) => p[1]), b)}"/>`;
    }).join('');
    part(card, 'dots').innerHTML = shownLines(card).map((line) => {
      const points = flatOf(line).filter((p) => p[0] !== null && p[1] !== null);
      if (!points.length) return '';
      const at = (p) => `cx="${X(p[0], b).toFixed(1)}" cy="${Y(p[1], b).toFixed(1)}"`;
      return `<circle ${at(points[0])} r="3.4" fill="none" stroke="${line.color}"/><circle ${at(points.at(-1))} r="3" fill="${line.color}"/>`;
    }).join('');
    if (card.kind !== 'space') return;
    const long = Math.max(...ticks(0, 0.32 * (b[3] - b[2])));
    part(card, 'axes').innerHTML = [[long, 0, 0], [0, long, 0], [0, 0, long]].map((end, k) => {
      const o = flat(card, [0, 0, 0]), p = flat(card, end), x = X(p[0], b), wide = 6 * `${card.axes[k]} [${card.unit}]`.length;
      const left = x < X(o[0], b) - 1 ? x - wide > 0 : x + wide > W;
      const words = text(X(p[0], b) + (left ? -3 : 3), Y(p[1], b), left ? 'end' : 'start', '');
      return `<path class="frame" d="M${X(o[0], b).toFixed(1)} ${Y(o[1], b).toFixed(1)}L${X(p[0], b).toFixed(1)} ${Y(p[1], b).toFixed(1)}"/>`
        + words.replace('></', `>${card.axes[k]} [${card.unit}]</`);
    }).join('');
  }
  const redraw = (card) => card.kind === 'lines' ? drawLines(card) : drawSpace(card);

  // ---- the hand
  const where = (card, event) => {
    const box = card.svg.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * W, (event.clientY - box.top) / box.height * H];
  };
  const timeAt = (card, x) => {
    const b = card.now || card.box;
    return b[0] + Math.min(1, Math.max(0, (x - L) / (W - L - R))) * (b[1] - b[0]);
  };
  function zoom(window_) {
    for (const card of over) { card.window = window_; drawLines(card); }
    document.getElementById('whole').hidden = !window_;
  }
  for (const card of cards) {
    card.count = card.node.querySelectorAll('.legend button').length;
    let from = null, turn = null;
    card.svg.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      if (card.kind === 'lines') from = where(card, event)[0];
      if (card.kind === 'space') turn = [event.clientX, event.clientY, ...(card.turn || [Math.PI / 4, Math.asin(Math.tan(Math.PI / 6))])];
      if (turn || event.pointerType === 'mouse') card.svg.setPointerCapture(event.pointerId);
    });
    card.svg.addEventListener('pointermove', (event) => {
      const [x, y] = where(card, event);
      if (turn) {
        card.turn = [turn[2] - (event.clientX - turn[0]) / 120, Math.max(-1.5, Math.min(1.5, turn[3] + (event.clientY - turn[1]) / 120))];
        return drawSpace(card);
      }
      if (card.kind === 'lines') {
        cursor(timeAt(card, x));
        if (from !== null && Math.abs(x - from) > 3) {
          const [a, b] = [Math.max(L, Math.min(from, x)), Math.min(W - R, Math.max(from, x))];
          part(card, 'cursor').innerHTML += `<rect class="pick" x="${a}" y="${T}" width="${b - a}" height="${H - T - B}"/>`;
        }
      } else {
        let best = [Infinity, 0];
        shownLines(card).forEach((line) => line.p[0].forEach((_, k) => {
          const p = flat(card, line.p.map((c) => c[k]));
          if (p[0] === null || p[1] === null) return;
          const d = (X(p[0], card.box) - x) ** 2 + (Y(p[1], card.box) - y) ** 2;
          if (d < best[0]) best = [d, k];
        }));
        if (best[0] < 400) cursor(card.t[best[1]]);
      }
    });
    card.svg.addEventListener('pointerup', (event) => {
      const x = where(card, event)[0];
      if (from !== null && Math.abs(x - from) > 8) zoom([timeAt(card, Math.min(from, x)), timeAt(card, Math.max(from, x))]);
      from = turn = null;
    });
    card.svg.addEventListener('pointercancel', () => { from = turn = null; });
    card.svg.addEventListener('pointerleave', () => { if (from === null && !turn) cursor(null); });
    card.svg.addEventListener('dblclick', () => { if (card.kind === 'lines') zoom(null); else { card.turn = null; drawSpace(card); } });
    card.node.querySelectorAll('.legend button').forEach((button, k) => button.addEventListener('click', () => {
      if (card.hidden.has(k)) card.hidden.delete(k); else card.hidden.add(k);
      button.setAttribute('aria-pressed', String(!card.hidden.has(k)));
      redraw(card);
    }));
  }
  document.getElementById('whole').addEventListener('click', () => zoom(null));
  document.documentElement.classList.add('live');
})();

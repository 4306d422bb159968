/** A line chart on logarithmic axes, as a standalone SVG. */
const WIDTH = 720;
const HEIGHT = 420;
const PLOT = { left: 64, right: 210, top: 40, bottom: 52 };
const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a', '#bf3989', '#0a7ea4'];

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** 1, 2 and 5 times the powers of ten that lie in the range. */
function ticks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of [1, 2, 5]) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

const label = (value) => (value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3))));

/** @param series `[{ name, points: [[x, y], …] }]`, all values above 0 */
export function chart({ title, x, y, series }) {
  const points = series.flatMap((it) => it.points);
  const range = (axis) => [Math.min(...points.map((point) => point[axis])) * 0.8, Math.max(...points.map((point) => point[axis])) * 1.25];
  const [xLow, xHigh] = range(0);
  const [yLow, yHigh] = range(1);
  const place = (value, low, high, from, to) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
  const px = (value) => place(value, xLow, xHigh, PLOT.left, WIDTH - PLOT.right).toFixed(1);
  const py = (value) => place(value, yLow, yHigh, HEIGHT - PLOT.bottom, PLOT.top).toFixed(1);
  const grid = [
    ...ticks(xLow, xHigh).map(
      (at) =>
        `<path d="M${px(at)} ${PLOT.top}V${HEIGHT - PLOT.bottom}"/><text x="${px(at)}" y="${HEIGHT - PLOT.bottom + 16}" text-anchor="middle">${label(at)}</text>`,
    ),
    ...ticks(yLow, yHigh).map(
      (at) =>
        `<path d="M${PLOT.left} ${py(at)}H${WIDTH - PLOT.right}"/><text x="${PLOT.left - 6}" y="${Number(py(at)) + 4}" text-anchor="end">${label(at)}</text>`,
    ),
  ];
  const lines = series.map(({ name, points: own }, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const path = own.map(([a, b], at) => `${at === 0 ? 'M' : 'L'}${px(a)} ${py(b)}`).join('');
    const dots = own.map(([a, b]) => `<circle cx="${px(a)}" cy="${py(b)}" r="3"/>`).join('');
    const legend = PLOT.top + 14 + i * 18;
    return `<g fill="${colour}" stroke="${colour}"><path d="${path}" fill="none" stroke-width="2"/>${dots}<path d="M${WIDTH - PLOT.right + 14} ${legend}h18" stroke-width="2"/></g><text x="${WIDTH - PLOT.right + 38}" y="${legend + 4}">${escaped(name)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="11" fill="#57606a">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="${PLOT.left}" y="22" font-size="15" fill="#1f2328">${escaped(title)}</text>
<g stroke="#d0d7de" stroke-width="0.6">${grid.map((it) => it.replace('<text', '<text stroke="none"')).join('\n')}</g>
${lines.join('\n')}
<text x="${(PLOT.left + WIDTH - PLOT.right) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escaped(x)}</text>
<text transform="translate(16 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>
</svg>
`;
}

/** The simulator's stylesheet, served as a file so that the pages' Content-Security-Policy can refuse inline styles. */
export const SIMULATOR_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f5f5f2; --card: #ffffff; --ink: #1d1f24; --soft: #5c6270; --line: #dfe0dc;
  --accent: #14557b; --on-accent: #ffffff; --bad: #a4271f; --bad-paper: #fdf0ee;
  --good: #20683a; --wait: #7a5200;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --card: #1d2026; --ink: #eceef2; --soft: #a3aab8; --line: #343943;
    --accent: #7cc0e8; --on-accent: #0c1d29; --bad: #ff9d94; --bad-paper: #3a1d1b;
    --good: #86d3a0; --wait: #eebf62;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
main.wide { max-width: 60rem; }
main.narrow { max-width: 27rem; }
h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.15rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
code, .number { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .95em; }
.soft { color: var(--soft); }
.lead { max-width: 42rem; color: var(--soft); }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 14px; box-shadow: 0 1px 2px rgb(0 0 0 / 6%), 0 8px 24px rgb(0 0 0 / 5%); }

.cards { width: 100%; border-collapse: collapse; }
.cards caption { text-align: left; padding: 1rem 1.25rem; font-weight: 600; }
.cards th { text-align: left; font-weight: 600; font-size: .85rem; color: var(--soft); padding: .5rem 1.25rem; border-bottom: 1px solid var(--line); }
.cards td { padding: .7rem 1.25rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.cards tbody tr:last-child td { border-bottom: 0; }
.cards .number { white-space: nowrap; user-select: all; font-size: 1rem; }
.cards .title { font-weight: 600; white-space: nowrap; }
.title::before { content: ""; display: inline-block; width: .55rem; height: .55rem; margin-right: .6rem; border-radius: 50%; background: var(--mark, var(--good)); }
.title.declined { --mark: var(--bad); }
.title.open { --mark: var(--wait); }
.title.after { --mark: var(--accent); }

.calls { margin: 0; padding: .75rem 1.25rem; }
.calls div { padding: .5rem 0; border-bottom: 1px solid var(--line); }
.calls div:last-child { border-bottom: 0; }
.calls dt code { font-weight: 600; overflow-wrap: anywhere; }
.calls dd { margin: 0; color: var(--soft); }

.issuer { display: flex; align-items: center; gap: .6rem; margin-bottom: 1rem; font-weight: 600; }
.issuer svg { flex: none; color: var(--accent); }
.challenge { padding: 1.5rem; }
.challenge h1 { font-size: 1.35rem; }
.facts { margin: 0 0 1.25rem; padding: .25rem 0; border-block: 1px solid var(--line); }
.facts div { display: flex; justify-content: space-between; gap: 1rem; padding: .4rem 0; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; font-weight: 600; text-align: right; overflow-wrap: anywhere; }
.facts dd.number { font-weight: 500; }
label { display: block; margin-bottom: .35rem; font-weight: 600; }
input { width: 100%; padding: .7rem .85rem; font: inherit; font-size: 1.35rem; letter-spacing: .35em; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 9px; }
button { width: 100%; margin-top: .9rem; padding: .8rem 1rem; font: inherit; font-weight: 600; border-radius: 9px; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.quiet { background: none; color: var(--accent); border-color: var(--line); }
button:hover { filter: brightness(1.06); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { margin: 0 0 1rem; padding: .7rem .9rem; border-radius: 9px; background: var(--bad-paper); color: var(--bad); font-weight: 600; }
.hint { margin: 0 0 .5rem; font-size: .9rem; color: var(--soft); }

@media (max-width: 44rem) {
  main { padding: 1.5rem 1rem 3rem; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards tr { display: block; padding: .85rem 1rem; border-bottom: 1px solid var(--line); }
  .cards tbody tr:last-child { border-bottom: 0; }
  .cards td { display: block; padding: 0; border: 0; }
  .cards td.meaning { color: var(--soft); }
}
`;

/** Styles of the documentation: a column of operations, with its contents beside it on wide screens. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f6f8; --text: #1b1f27; --quiet: #5b6472; --line: #dfe3e8; --accent: #0b5cad;
  --get: #0b6b43; --post: #0b5cad; --put: #8a5200; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12151b; --raised: #1b2028; --text: #e6e9ee; --quiet: #9aa4b2; --line: #2c333e; --accent: #7db7f5;
    --get: #63c99a; --post: #7db7f5; --put: #e3b062; --delete: #f2938c;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: 0.86em; }
code { overflow-wrap: anywhere; }
pre code { font-size: inherit; overflow-wrap: normal; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.75rem; letter-spacing: -0.02em; }
h2 { font-size: 1.4rem; margin: 0 0 1rem; letter-spacing: -0.01em; }
h3 { font-size: 1.1rem; margin: 0 0 0.5rem; }
h4 { font-size: 0.8rem; margin: 1.5rem 0 0.5rem; color: var(--quiet); text-transform: uppercase; letter-spacing: 0.06em; }
p { margin: 0 0 0.75rem; max-width: 44rem; }
.frame { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
nav { padding: 1.5rem 0 1rem; border-bottom: 1px solid var(--line); font-size: 0.94rem; }
nav p { font-weight: 650; margin: 0 0 0.5rem; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
nav a { display: inline-block; padding: 0.2rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main > section { padding: 2.5rem 0; border-bottom: 1px solid var(--line); }
main > section:last-child { border-bottom: 0; }
article { padding: 1.5rem 0; }
article + article { border-top: 1px solid var(--line); }
.address { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.75rem; margin: 0 0 0.75rem; }
.method { font: 700 0.78rem/1 ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.04em; text-transform: uppercase; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; margin: 0 0 0.75rem; overflow: auto; max-height: 30rem; line-height: 1.5; tab-size: 2; }
.fields { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line); }
.fields li { padding: 0.55rem 0; border-bottom: 1px solid var(--line); }
.fields .fields { margin: 0.5rem 0 0 1rem; }
.fields .fields li:last-child { border-bottom: 0; padding-bottom: 0; }
.fields p { margin: 0.1rem 0 0; font-size: 0.94rem; color: var(--quiet); }
.name { font-weight: 650; margin-right: 0.6rem; }
.type { color: var(--quiet); font-size: 0.88rem; }
.always { font-size: 0.8rem; margin-left: 0.6rem; color: var(--accent); }
summary { cursor: pointer; padding: 0.35rem 0; color: var(--accent); }
.status { font-variant-numeric: tabular-nums; color: var(--quiet); margin-right: 0.6rem; }
@media (min-width: 62rem) {
  .frame { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 0 3.5rem; }
  nav { position: sticky; top: 0; height: 100vh; overflow: auto; border-bottom: 0; padding: 2.75rem 0 1.5rem; }
  nav ul { display: block; }
  nav ul ul { margin: 0 0 0.5rem 0.75rem; }
}
@media (max-width: 61.99rem) { nav ul ul { display: none; } }
`;

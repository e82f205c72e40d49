/**
 * The style sheet of the hosted page. A module and not a .css file, so that it is part of the compiled code. Colours
 * are variables, with a second set for dark mode. Contrast is AA in both.
 */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #eef0f6;
  --surface: #ffffff;
  --text: #171a2e;
  --muted: #555b75;
  --line: #dcdfe9;
  --edge: #81879f;
  --accent: #3d3ccb;
  --accent-strong: #302fa8;
  --on-accent: #ffffff;
  --wallet: #171a2e;
  --wallet-strong: #2c3152;
  --on-wallet: #ffffff;
  --danger: #b0231b;
  --danger-ground: #fdeeec;
  --good: #17693a;
  --good-ground: #e3f4e9;
  --hint: #6a4a00;
  --hint-ground: #fff2d1;
  --panel: linear-gradient(165deg, #35349c 0%, #23245f 100%);
  --on-panel: #ffffff;
  --on-panel-muted: #cfd1f7;
  --panel-line: rgb(255 255 255 / 18%);
  --shadow: 0 1px 2px rgb(23 26 46 / 6%), 0 12px 32px rgb(23 26 46 / 10%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1019;
    --surface: #191c2a;
    --text: #eceef8;
    --muted: #a9aec7;
    --line: #2e3247;
    --edge: #7b819d;
    --accent: #a3a9ff;
    --accent-strong: #bcc0ff;
    --on-accent: #12132b;
    --wallet: #eceef8;
    --wallet-strong: #ffffff;
    --on-wallet: #171a2e;
    --danger: #ffb1a8;
    --danger-ground: #3a1c1b;
    --good: #84dca4;
    --good-ground: #12321f;
    --hint: #ffd788;
    --hint-ground: #38290a;
    --panel: linear-gradient(165deg, #2b2b73 0%, #1b1c44 100%);
    --panel-line: rgb(255 255 255 / 14%);
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px rgb(0 0 0 / 35%);
  }
}

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  display: flex;
  flex-direction: column;
  background: var(--ground);
  color: var(--text);
  font: 400 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif;
}
h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
h1, h2 { line-height: 1.25; font-weight: 650; text-wrap: balance; }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.panel :focus-visible { outline-color: var(--on-panel); }
.muted { color: var(--muted); }

.banner { background: var(--hint-ground); color: var(--hint); text-align: center; padding: 0.5rem 1rem; font-size: 0.9375rem; text-wrap: balance; }
main { flex: 1; width: 100%; max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem; display: grid; gap: 1.5rem; align-content: start; }
footer { padding: 0 1.25rem 2rem; text-align: center; font-size: 0.875rem; color: var(--muted); display: flex; gap: 0.5rem; justify-content: center; align-items: center; }
footer svg { flex: none; }

.sheet { background: var(--surface); border-radius: 1rem; box-shadow: var(--shadow); overflow: hidden; }
.checkout { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); }

.panel { background: var(--panel); color: var(--on-panel); padding: 2.25rem; display: flex; flex-direction: column; gap: 1.75rem; }
.payee { display: flex; align-items: center; gap: 0.75rem; font-weight: 600; overflow-wrap: anywhere; }
.mark { flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border-radius: 0.75rem; background: var(--panel-line); font-size: 1.125rem; }
.sum .label { display: block; color: var(--on-panel-muted); font-size: 0.9375rem; font-weight: 400; margin-bottom: 0.25rem; }
.sum .amount { display: block; font-size: clamp(1.75rem, 4.5vw, 2.5rem); font-weight: 680; letter-spacing: -0.02em; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.sum .long { font-size: 1.75rem; }
.about { display: grid; gap: 0.75rem; border-top: 1px solid var(--panel-line); padding-top: 1.25rem; font-size: 0.9375rem; }
.about p { overflow-wrap: anywhere; white-space: pre-line; }
.about dl { display: grid; gap: 0.125rem; }
.about dt { color: var(--on-panel-muted); font-size: 0.875rem; }
.about dd { overflow-wrap: anywhere; }
.timer { color: var(--on-panel-muted); font-size: 0.9375rem; display: flex; gap: 0.625rem; align-items: flex-start; }
.timer svg { flex: none; margin-top: 0.2rem; }
.timer time { color: var(--on-panel); font-weight: 600; font-variant-numeric: tabular-nums; }

.work { padding: 2.25rem; display: grid; gap: 1.5rem; align-content: start; }
.heading { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; }
.heading h2 { font-size: 1.25rem; }
.marks { display: flex; gap: 0.375rem; }
.marks svg { display: block; border-radius: 0.25rem; }

.notice { border-radius: 0.75rem; padding: 1rem 1.125rem; display: grid; gap: 0.25rem; border-inline-start: 4px solid; background: var(--danger-ground); color: var(--danger); }
.notice h2 { font-size: 1.0625rem; }
.notice p, .notice li { color: var(--text); font-size: 0.9375rem; }
.notice ul { list-style: none; display: grid; gap: 0.25rem; margin-top: 0.25rem; }
.notice li a { color: var(--danger); font-weight: 600; }

main, .work, .wallets, .actions, .cards, .message, .receipt { grid-template-columns: minmax(0, 1fr); }
form { margin: 0; }
.fields { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.125rem 1rem; }
.field { display: grid; gap: 0.375rem; align-content: start; }
.field.wide { grid-column: 1 / -1; }
.field label { font-weight: 600; font-size: 0.9375rem; }
.field .hint { color: var(--muted); font-size: 0.8125rem; line-height: 1.35; }
.field .wrong { color: var(--danger); font-size: 0.875rem; font-weight: 600; line-height: 1.35; }
.field input {
  width: 100%;
  min-height: 3rem;
  padding: 0.625rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.625rem;
  background: var(--surface);
  color: var(--text);
  font: inherit;
  font-variant-numeric: tabular-nums;
}
.field input:hover { border-color: var(--text); }
.field input:focus-visible { outline-offset: 0; border-color: var(--accent); }
.field input[aria-invalid="true"] { border-color: var(--danger); border-width: 2px; }
.actions { display: grid; gap: 0.875rem; margin-top: 1.5rem; }

.button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: 0.5rem;
  width: 100%;
  min-height: 3.25rem;
  padding: 0.75rem 1.5rem;
  border: 1px solid transparent;
  border-radius: 0.75rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 650;
  font-size: 1.0625rem;
  text-decoration: none;
  text-align: center;
  overflow-wrap: anywhere;
  cursor: pointer;
  transition: background-color 120ms ease;
}
.button:hover { background: var(--accent-strong); }
.button[aria-disabled="true"] { opacity: 0.75; cursor: progress; }
.button.small { width: auto; white-space: nowrap; min-height: 2.75rem; padding: 0.25rem 1rem; font-size: 0.9375rem; border-radius: 0.625rem; background: transparent; color: var(--accent); border-color: var(--edge); }
.button.small:hover { border-color: var(--accent); background: var(--ground); }
.wallets { display: grid; gap: 0.75rem; }
.button.wallet { flex-wrap: wrap; gap: 0.25rem 0.5rem; padding-inline: 0.75rem; background: var(--wallet); color: var(--on-wallet); }
.button.wallet:hover { background: var(--wallet-strong); }
.wallet svg { flex: none; }
.tag { padding: 0.0625rem 0.5rem; border: 1px solid; border-radius: 1rem; font-size: 0.8125rem; font-weight: 600; line-height: 1.4; }
.wallets + .heading { border-top: 1px solid var(--line); padding-top: 1.5rem; }
.quiet { width: 100%; min-height: 2.75rem; padding: 0.5rem 1rem; border: 0; border-radius: 0.625rem; background: transparent; color: var(--muted); font: inherit; font-size: 0.9375rem; text-decoration: underline; text-underline-offset: 0.2em; cursor: pointer; }
.quiet:hover { color: var(--text); }
.promise { text-wrap: balance; font-size: 0.8125rem; line-height: 1.45; color: var(--muted); text-align: center; }
.cancel { border-top: 1px solid var(--line); padding-top: 0.75rem; }

.cards { padding: 1.75rem 2.25rem 1.25rem; display: grid; gap: 1rem; }
.cards h2 { font-size: 1.125rem; }
.cards table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
.cards caption { text-align: start; color: var(--muted); padding-bottom: 0.75rem; }
.cards th { text-align: start; font-weight: 600; }
.cards thead th { font-size: 0.8125rem; color: var(--muted); padding: 0 1.25rem 0.5rem 0; }
.cards tbody th, .cards tbody td { border-top: 1px solid var(--line); padding: 0.625rem 1.25rem 0.625rem 0; vertical-align: middle; }
.cards tbody td:last-child { padding-inline-end: 0; text-align: end; }
.cards .digits { font-variant-numeric: tabular-nums; white-space: nowrap; }

.message { width: 100%; max-width: 30rem; margin: 0 auto; padding: 2.5rem 2.25rem; display: grid; gap: 1.25rem; justify-items: center; text-align: center; }
.message h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
.message .lead { color: var(--muted); overflow-wrap: anywhere; text-wrap: pretty; }
.message form { width: 100%; }
.sign { display: grid; place-items: center; width: 4.5rem; height: 4.5rem; border-radius: 50%; background: var(--ground); color: var(--muted); }
.sign.good { background: var(--good-ground); color: var(--good); }
.sign.bad { background: var(--danger-ground); color: var(--danger); }
.sign.waiting { background: none; }
.spinner { width: 3.5rem; height: 3.5rem; border-radius: 50%; border: 5px solid var(--line); border-top-color: var(--accent); animation: turn 900ms linear infinite; }
@keyframes turn { to { transform: rotate(360deg); } }
.receipt { width: 100%; border-top: 1px solid var(--line); display: grid; text-align: start; font-size: 0.9375rem; }
.receipt div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.125rem 1.5rem; padding: 0.625rem 0; border-bottom: 1px solid var(--line); }
.receipt dt { color: var(--muted); }
.receipt dd { margin-inline-start: auto; text-align: end; font-weight: 600; overflow-wrap: anywhere; }

@media (max-width: 47.99rem) {
  main { padding: 0 0 1.5rem; gap: 1rem; }
  .checkout { grid-template-columns: minmax(0, 1fr); border-radius: 0; box-shadow: none; }
  .panel { padding: 1.5rem 1.25rem; gap: 1.125rem; }
  .about { padding-top: 1rem; }
  .work { padding: 1.5rem 1.25rem; }
  .button.wallet { font-size: 1rem; }
  .cards { padding: 1.25rem; border-radius: 0; box-shadow: none; }
  .cards table, .cards tbody, .cards caption { display: block; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; grid-template-areas: "title use" "digits use" "meaning meaning"; gap: 0.125rem 1rem; align-items: center; border-top: 1px solid var(--line); padding: 0.75rem 0; }
  .cards tbody th, .cards tbody td { border: 0; padding: 0; }
  .cards tbody th { grid-area: title; }
  .cards .digits { grid-area: digits; }
  .cards .meaning { grid-area: meaning; color: var(--muted); font-size: 0.875rem; }
  .cards tbody td:last-child { grid-area: use; }
  .message { margin: 1.25rem auto 0; padding: 2rem 1.25rem; max-width: calc(100% - 2.5rem); }
}
@media (max-width: 29.99rem) {
  /* All wallets alike: left to itself, only the longest would break its line. */
  .button.wallet { display: inline-grid; grid-template-columns: auto auto; justify-content: center; }
  .wallet .tag { grid-column: 1 / -1; justify-self: center; }
}
@media (pointer: coarse) {
  .notice ul { gap: 0; }
  .notice li a { display: block; padding: 0.6875rem 0; }
}
@media (max-width: 21rem) {
  .fields { grid-template-columns: minmax(0, 1fr); }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { transition: none !important; }
  .spinner { animation-duration: 6s; }
}
@media (forced-colors: active) {
  .button, .sheet, .mark { border: 1px solid; }
}
@media print {
  .banner, .button, footer { display: none; }
}
`;

/** Icons next to words with the same meaning, so hidden from screen readers. */

const outline = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': '2',
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
} as const;

export function LockIcon() {
  return (
    <svg width="16" height="16" viewBox="0 0 24 24" aria-hidden="true" {...outline}>
      <rect x="5" y="11" width="14" height="9" rx="2" />
      <path d="M8 11V8a4 4 0 0 1 8 0v3" />
    </svg>
  );
}

export function ClockIcon() {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true" {...outline}>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 7v5l3 2" />
    </svg>
  );
}

/** A phone held to a terminal. */
export function DeviceIcon() {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true" {...outline}>
      <rect x="3" y="3" width="10" height="18" rx="2.5" />
      <path d="M7 17.5h2M16.5 9a5 5 0 0 1 0 6M19.5 6.5a9 9 0 0 1 0 11" />
    </svg>
  );
}

/** The sign of a result page. */
export type Sign = 'check' | 'cross' | 'clock';

const SIGNS = {
  check: <path d="m5 12.5 4.5 4.5L19 7.5" />,
  cross: <path d="M7 7l10 10M17 7 7 17" />,
  clock: <path d="M12 6v6l4 2.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18" />,
};

export function SignIcon({ sign }: { sign: Sign }) {
  return (
    <svg width="36" height="36" viewBox="0 0 24 24" aria-hidden="true" {...outline}>
      {SIGNS[sign]}
    </svg>
  );
}

/** Marks of the two most common card schemes. */
export function SchemeMarks() {
  return (
    <span class="marks" aria-hidden="true">
      <svg width="38" height="24" viewBox="0 0 38 24">
        <rect x=".5" y=".5" width="37" height="23" rx="3.5" fill="#fff" stroke="#c5c9d8" />
        <text
          x="19"
          y="16.5"
          text-anchor="middle"
          font-family="Arial, Helvetica, sans-serif"
          font-size="11.5"
          font-weight="700"
          font-style="italic"
          fill="#1a1f71"
        >
          VISA
        </text>
      </svg>
      <svg width="38" height="24" viewBox="0 0 38 24">
        <rect x=".5" y=".5" width="37" height="23" rx="3.5" fill="#fff" stroke="#c5c9d8" />
        <circle cx="15.5" cy="12" r="6.5" fill="#eb001b" />
        <circle cx="22.5" cy="12" r="6.5" fill="#f79e1b" />
        <path d="M19 6.5a6.5 6.5 0 0 1 0 11 6.5 6.5 0 0 1 0-11" fill="#ff5f00" />
      </svg>
    </span>
  );
}

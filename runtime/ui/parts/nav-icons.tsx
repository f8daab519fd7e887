/** The pages of the console, each by a line drawing of 16 units. */
const DRAWINGS = {
  overview: 'M2 9.5h3l2-6 3 9 2-5h2',
  fleet: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z',
  alerts: 'M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4zM6.5 13.5a1.6 1.6 0 0 0 3 0',
  changes: 'M8 2a6 6 0 1 0 6 6M8 4.5V8l2.5 1.5M10.5 2.5h3.5M10.5 4.8h2.5',
  versions: 'M8 2 14 5 8 8 2 5zM2.5 8.2 8 11l5.5-2.8M2.5 11.2 8 14l5.5-2.8',
  drift: 'M2 5.5h4l4 5h4M2 10.5h4M10 5.5h4M12 3.5l2 2-2 2',
  approvals: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.4 8.2l1.9 1.9 3.4-4',
  campaigns: 'M3 14V2.5h9l-2 3 2 3H3',
  fleetConfigs: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 3v3h3V3zM4 10v3h3v-3z',
  templates: 'M4 2h5.5L12.5 5v9H4zM9 2v3.5h3.5M6 8.5h4M6 11h4',
  reports: 'M2.5 13.5h11M4 11V8M8 11V3M12 11V6',
  audit: 'M8 1.8 13 4v4c0 3-2.2 5.2-5 6.2C5.2 13.2 3 11 3 8V4z',
} as const

/** A page of the console that has a drawing. */
export type NavShape = keyof typeof DRAWINGS

/** Draws a page's icon. */
export function NavIcon({ shape }: { shape: NavShape }) {
  return (
    <svg class="nav-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[shape]} />
    </svg>
  )
}

/** State is a shape and a word, never colour alone; these are the shapes. */
export type Shape =
  | 'full'
  | 'half'
  | 'ring'
  | 'triangle'
  | 'cross'
  | 'tick'
  | 'dot'
  | 'clock'
  | 'box'
  | 'back'

const OUTLINE = { fill: 'none', stroke: 'currentColor', 'stroke-width': '1.4' } as const

/** Draws one of the shapes. */
export function Icon({ shape }: { shape: Shape }) {
  return (
    <svg viewBox="0 0 12 12" aria-hidden="true" focusable="false">
      {shape === 'full' && <circle cx="6" cy="6" r="5" fill="currentColor" />}
      {shape === 'half' && (
        <>
          <circle cx="6" cy="6" r="4.4" {...OUTLINE} />
          <path d="M6 1.6a4.4 4.4 0 0 1 0 8.8z" fill="currentColor" />
        </>
      )}
      {shape === 'ring' && <circle cx="6" cy="6" r="4.4" {...OUTLINE} />}
      {shape === 'triangle' && <path d="M6 1 11.4 11H.6z" fill="currentColor" />}
      {shape === 'cross' && <path d="m2 2 8 8M10 2l-8 8" {...OUTLINE} stroke-width="1.8" />}
      {shape === 'tick' && <path d="m1.5 6.5 3 3 6-7" {...OUTLINE} stroke-width="1.8" />}
      {shape === 'dot' && <circle cx="6" cy="6" r="2.2" fill="currentColor" />}
      {shape === 'clock' && (
        <>
          <circle cx="6" cy="6" r="4.4" {...OUTLINE} />
          <path d="M6 3.4V6l1.8 1.2" {...OUTLINE} />
        </>
      )}
      {shape === 'back' && (
        <path d="M4.3 1.6 1.6 4.3 4.3 7M2 4.3h5.4a2.9 2.9 0 0 1 0 5.9H4" {...OUTLINE} stroke-width="1.6" />
      )}
      {shape === 'box' && <path d="M1.5 3h9v2h-9zM2.3 5v4.6h7.4V5" {...OUTLINE} />}
    </svg>
  )
}

import { toStretches } from '../logic/bars.ts'

const HEIGHT = 16
/** Fewer counts than these are a speck, and no line. */
const COUNTS_MIN = 4

/**
 * A line of counts in small, without axes; null is a time in which nothing was counted, and a gap of the line. It
 * stands beside the number that it is about, and says nothing to a screen reader.
 */
export function Sparkline({
  values,
  color,
  title,
  width = 72,
}: {
  values: readonly (number | null)[]
  color: string
  title: string
  /** In px. */
  width?: number
}) {
  const largest = Math.max(1, ...values.map((value) => value ?? 0))
  const isLine = values.filter((value) => value !== null).length >= COUNTS_MIN
  const x = (at: number) => (width * at) / Math.max(1, values.length - 1)
  const y = (value: number) => 1 + (HEIGHT - 2) * (1 - value / largest)
  return (
    <svg
      class="sparkline"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      aria-hidden="true"
      style={{ color: `var(${color})` }}
    >
      <title>{title}</title>
      {(isLine ? toStretches(values) : []).map(({ first, values: stretch }) => (
        <polyline
          key={first}
          // A stretch of one has a length as well, so that it is drawn.
          points={[...stretch, ...(stretch.length === 1 ? stretch : [])]
            .map(
              (value, at) => `${x(first + Math.min(at, stretch.length)).toFixed(1)},${y(value).toFixed(1)}`,
            )
            .join(' ')}
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          stroke-linejoin="round"
        />
      ))}
    </svg>
  )
}

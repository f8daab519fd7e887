import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { language } from '../i18n/define.ts'
import { formatClock, formatDay, formatNumber } from '../i18n/format.ts'
import { bucketAt, rangeOfBars, stackBars } from '../logic/bars.ts'

/** What a chart shows. */
export interface ChartProps {
  label: string
  /** Starts of buckets in seconds since the epoch, ascending. */
  times: readonly number[]
  /** How long a bucket is. */
  bucketSeconds: number
  /** Counts for each bucket. The bars of all series are stacked, the last series at the bottom. */
  series: readonly { name: string; values: readonly number[]; color: string }[]
}

const HEIGHT = 140
const DAY_SECONDS = 86_400
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/** When a bucket is, with its day where the chart spans several. */
function nameBucket(times: readonly number[], bucketSeconds: number, index: number): string {
  const from = times[index]!
  const clock = `${formatClock(iso(from))} – ${formatClock(iso(from + bucketSeconds))}`
  return times.length * bucketSeconds > DAY_SECONDS ? `${formatDay(iso(from))}, ${clock}` : clock
}

/** Colours as they are drawn: light-dark() is resolved for an element's own colour only. */
function readColors(element: HTMLElement): { resolve(name: string): string; end(): void } {
  const probe = document.createElement('i')
  element.append(probe)
  return {
    resolve(name) {
      probe.style.color = `var(${name})`
      return getComputedStyle(probe).color
    },
    end: () => probe.remove(),
  }
}

type Axis = uPlot.Axis

/** The axis of time: days where the chart covers more than one, else the time of day. */
function timeAxis(isLong: boolean): Axis {
  return {
    values: (_, splits) =>
      splits.map((seconds) => (isLong ? formatDay(iso(seconds)) : formatClock(iso(seconds)))),
    ...(isLong ? { incrs: [DAY_SECONDS, 2 * DAY_SECONDS] } : {}),
    space: isLong ? 110 : 70,
  }
}

/** The axis of counts, as wide as its longest number, so that none is cut. */
const COUNT_AXIS: Axis = {
  values: (_, splits) => splits.map((value) => formatNumber(value)),
  size: (_, values) => 16 + 7.5 * Math.max(1, ...(values ?? []).map((text) => text.length)),
  incrs: [1, 2, 5]
    .flatMap((one) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((ten) => one * ten))
    .sort((a, b) => a - b),
}

function optionsOf(
  { times, bucketSeconds, series }: ChartProps,
  element: HTMLElement,
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const { resolve, end } = readColors(element)
  const isLong = times.length * bucketSeconds > DAY_SECONDS
  const axis: Axis = {
    stroke: resolve('--muted'),
    grid: { stroke: resolve('--line'), width: 1 },
    ticks: { show: false },
  }
  // A bar begins where its bucket does; uPlot would centre it there.
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], align: 1 })
  const setCursor = ({ cursor, posToVal }: uPlot) => {
    const { left } = cursor
    const isInside = left !== undefined && left >= 0
    onPoint(isInside ? bucketAt(times, bucketSeconds, posToVal(left, 'x')) : null)
  }
  const shown = series.map(({ name, color }) => ({
    label: name,
    stroke: resolve(color),
    fill: resolve(color),
    ...(bars ? { paths: bars } : {}),
    points: { show: false },
  }))
  end()
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [10, 14, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [setCursor] },
    scales: {
      x: { range: () => rangeOfBars(times, bucketSeconds) },
      y: { range: (_, __, max) => [0, Math.max(max, 1)] },
    },
    axes: [
      { ...axis, ...timeAxis(isLong) },
      { ...axis, ...COUNT_AXIS },
    ],
    series: [{}, ...shown],
  }
}

/** A small chart of counts over time, with what each colour means and what is under the pointer. */
export function Chart(props: ChartProps) {
  const { label, times, bucketSeconds, series } = props
  const host = useRef<HTMLDivElement>(null)
  const pointed = useSignal<number | null>(null)
  // Drawn anew when the language changes, since it names days and months.
  useEffect(() => {
    const element = host.current!
    const stacked = stackBars(series.map(({ values }) => values))
    const plot = new uPlot(
      optionsOf(props, element, (index) => (pointed.value = index)),
      // A count of 0 draws no bar.
      [[...times], ...stacked.map((values) => values.map((value) => value || null))],
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, bucketSeconds, series, language.value])
  const at = pointed.value !== null && pointed.value < times.length ? pointed.value : null
  return (
    <div class="stack tight">
      <div class="chart" ref={host} role="img" aria-label={label} />
      <div class="chart-legend">
        {series.map(({ name, values, color }) => (
          <span key={name}>
            <i style={{ background: `var(${color})` }} aria-hidden="true" />
            {name}
            {at !== null && <b> {formatNumber(values[at] ?? 0)}</b>}
          </span>
        ))}
        {at !== null && <span class="faint">{nameBucket(times, bucketSeconds, at)}</span>}
      </div>
    </div>
  )
}

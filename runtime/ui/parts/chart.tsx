import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { chartTexts } from '../i18n/chart.ts'
import { language, say } from '../i18n/define.ts'
import { formatClock, formatDay, formatNumber } from '../i18n/format.ts'
import { bucketAt, rangeOfBars, stackBars } from '../logic/bars.ts'
import { moveStretch, type Stretch } from '../logic/moments.ts'
import { navigate } from '../state/router.ts'
import type { Shape } from './icons.tsx'

/** One series of bars. */
export interface ChartSeries {
  name: string
  values: readonly number[]
  /** What is said of it, where that is not what is drawn: as of a series that counts what another one draws. */
  counts?: readonly number[]
  color: string
  /** The pattern of its bars, by the shape that its state has elsewhere: told apart without colours. */
  shape?: Shape
}

/** What a chart shows. */
export interface ChartProps {
  label: string
  /** Starts of buckets in seconds since the epoch, ascending. */
  times: readonly number[]
  /** How long a bucket is. */
  bucketSeconds: number
  /** Counts for each bucket. The bars of all series are stacked, the last series at the bottom. */
  series: readonly ChartSeries[]
  /** Where a stretch that somebody chooses leads, from and to in seconds; none can be chosen without it. */
  hrefOf?: (fromSeconds: number, toSeconds: number) => string
  /** False where the counts of several buckets do not add up, as those of what is there at a time. */
  isSum?: boolean
}

const HEIGHT = 140
/** A count that is not 0 is so much of the highest bar at least: 4 px of the 100 that are drawn on. */
const LEAST_SHARE = 0.04
/** A shorter drag is a click. */
const DRAG_MIN_PX = 4
const DAY_SECONDS = 86_400
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/** When a stretch of buckets is, with its day where the chart spans several. */
function nameStretch(times: readonly number[], bucketSeconds: number, { first, last }: Stretch): string {
  const from = times[first]!
  const clock = `${formatClock(iso(from))} – ${formatClock(iso(times[last]! + bucketSeconds))}`
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

/** What a bar is filled with: whole, in stripes, crossed or empty but for its edge, as its shape is. */
function fillOf(color: string, ground: string, shape: Shape | undefined): string | CanvasPattern {
  if (shape === undefined || shape === 'full') return color
  if (shape === 'ring') return ground
  const tile = document.createElement('canvas')
  const size = Math.round(6 * window.devicePixelRatio)
  tile.width = size
  tile.height = size
  const pen = tile.getContext('2d')
  if (pen === null) return color
  const isCross = shape === 'cross'
  // What is behind is drawn as well, so that no part of a pattern is empty.
  pen.fillStyle = isCross ? color : ground
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = isCross ? ground : color
  pen.lineWidth = size * (isCross ? 0.16 : 0.42)
  const line = (fromX: number, fromY: number, toX: number, toY: number) => {
    pen.beginPath()
    pen.moveTo(fromX, fromY)
    pen.lineTo(toX, toY)
    pen.stroke()
  }
  // Each line once more a tile aside, so that corners are whole.
  for (const aside of [-size, 0, size]) {
    line(aside - 1, size + 1, aside + size + 1, -1)
    if (isCross) line(aside - 1, -1, aside + size + 1, size + 1)
  }
  return pen.createPattern(tile, 'repeat') ?? color
}

type Axis = uPlot.Axis

/** The axis of time: days where the chart covers more than one, else the time of day. */
function timeAxis(isLong: boolean): Axis {
  return {
    values: (_, splits) =>
      splits.map((seconds) => (isLong ? formatDay(iso(seconds)) : formatClock(iso(seconds)))),
    ...(isLong ? { incrs: [DAY_SECONDS, 2 * DAY_SECONDS] } : {}),
    space: isLong ? 110 : 70,
    size: 30,
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
  { times, bucketSeconds, series, hrefOf }: ChartProps,
  element: HTMLElement,
  onPoint: (index: number | null) => void,
  onStretch: (stretch: Stretch) => void,
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
  const setSelect = ({ select, posToVal }: uPlot) => {
    if (select.width < DRAG_MIN_PX) return
    const at = (left: number) => bucketAt(times, bucketSeconds, posToVal(left, 'x'))
    onStretch({ first: at(select.left) ?? 0, last: at(select.left + select.width) ?? times.length - 1 })
  }
  const ground = resolve('--surface')
  const fills = series.map(({ color, shape }) => fillOf(resolve(color), ground, shape))
  const shown = series.map(({ name, color }, at) => ({
    label: name,
    stroke: resolve(color),
    fill: (() => fills[at] ?? '') as uPlot.Series.Fill,
    ...(bars ? { paths: bars } : {}),
    points: { show: false },
  }))
  end()
  return {
    width: element.clientWidth,
    height: HEIGHT,
    // The last hour stands under the very edge and is half as wide as this.
    padding: [10, 22, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: hrefOf !== undefined, y: false, setScale: false },
    },
    hooks: { setCursor: [setCursor], setSelect: [setSelect] },
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

/** Keeps the shown selection where the chosen stretch is, also as the chart changes its width. */
function showStretch(plot: uPlot, { times, bucketSeconds }: ChartProps, stretch: Stretch | null): void {
  const left = stretch === null ? 0 : plot.valToPos(times[stretch.first]!, 'x')
  const right = stretch === null ? 0 : plot.valToPos(times[stretch.last]! + bucketSeconds, 'x')
  plot.setSelect({ left, top: 0, width: right - left, height: plot.over.clientHeight }, false)
}

/** The drawn chart; it follows its width, and the stretch that is chosen. */
function usePlot(props: ChartProps, chosen: Stretch | null, onStretch: (stretch: Stretch) => void) {
  const { times, bucketSeconds, series } = props
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const pointed = useSignal<number | null>(null)
  const shown = useRef(chosen)
  shown.current = chosen
  const scheme = useSignal(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const changed = () => void scheme.value++
    dark.addEventListener('change', changed)
    return () => dark.removeEventListener('change', changed)
  }, [])
  // Drawn anew when the language changes, since it names days and months, and when the system's colours do, as at dusk.
  useEffect(() => {
    const element = host.current!
    const stacked = stackBars(
      series.map(({ values }) => values),
      LEAST_SHARE,
    )
    const drawn = new uPlot(
      optionsOf(props, element, (index) => (pointed.value = index), onStretch),
      // A count of 0 draws no bar.
      [[...times], ...stacked.map((values) => values.map((value) => value || null))],
      element,
    )
    plot.current = drawn
    const observer = new ResizeObserver(() => {
      drawn.setSize({ width: element.clientWidth, height: HEIGHT })
      showStretch(drawn, props, shown.current)
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.current = null
      drawn.destroy()
    }
  }, [times, bucketSeconds, series, language.value, scheme.value])
  useEffect(() => {
    if (plot.current) showStretch(plot.current, props, chosen)
  }, [chosen, times])
  return { host, pointed: pointed.value }
}

/** What each colour means, and the counts under the pointer, or else where the keys are. */
function Legend({ times, bucketSeconds, series, at }: ChartProps & { at: number | null }) {
  return (
    <div class="chart-legend">
      {series.map(({ name, values, counts = values, color, shape = 'full' }) => (
        <span key={name}>
          <i class={`swatch-${shape}`} style={{ color: `var(${color})` }} aria-hidden="true" />
          {name}
          {at !== null && <b> {formatNumber(counts[at] ?? 0)}</b>}
        </span>
      ))}
      {at !== null && <span class="faint">{nameStretch(times, bucketSeconds, { first: at, last: at })}</span>}
    </div>
  )
}

/** The chosen stretch in words and numbers, and the way to what was changed then. */
function Chosen(props: ChartProps & { stretch: Stretch | null }) {
  const { times, bucketSeconds, series, stretch, hrefOf } = props
  const words = say(chartTexts)
  if (hrefOf === undefined) return null
  if (stretch === null) return <p class="muted small">{words.hint}</p>
  const sum = (values: readonly number[]) =>
    values.slice(stretch.first, stretch.last + 1).reduce((all, value) => all + value, 0)
  return (
    <div class="actions">
      <span role="status">
        {nameStretch(times, bucketSeconds, stretch)}
        {(props.isSum !== false || stretch.first === stretch.last) &&
          series
            .map(({ name, values, counts = values }) => ` · ${formatNumber(sum(counts))} ${name}`)
            .join('')}
      </span>
      <a class="btn" href={hrefOf(times[stretch.first]!, times[stretch.last]! + bucketSeconds)}>
        {words.changes}
      </a>
    </div>
  )
}

/** A small chart of counts over time. With `hrefOf`, dragging or the arrow keys choose a stretch of it. */
export function Chart(props: ChartProps) {
  const { label, times, hrefOf } = props
  // Kept by its start, since buckets move on while somebody looks.
  const chosen = useSignal<{ start: number; count: number } | null>(null)
  const first = chosen.value === null ? -1 : times.indexOf(chosen.value.start)
  const count = chosen.value?.count ?? 0
  const stretch = useMemo(
    () => (first < 0 ? null : { first, last: Math.min(first + count, times.length) - 1 }),
    [first, count, times],
  )
  const choose = (next: Stretch) => {
    chosen.value = { start: times[next.first]!, count: next.last - next.first + 1 }
  }
  const { host, pointed } = usePlot(props, stretch, choose)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      choose(moveStretch(stretch, step, event.shiftKey, times.length))
    } else if (event.key === 'Escape') chosen.value = null
    else if (event.key === 'Enter' && stretch !== null && hrefOf !== undefined) {
      event.preventDefault()
      navigate(hrefOf(times[stretch.first]!, times[stretch.last]! + props.bucketSeconds))
    }
  }
  const isChoosable = hrefOf !== undefined
  // Who comes by keyboard is told of the newest stretch, until another one is chosen.
  const isFocused = useSignal(false)
  const newest = isFocused.value ? times.length - 1 : null
  return (
    <div class="stack tight">
      <section
        class={isChoosable ? 'chart-frame choosable' : 'chart-frame'}
        tabIndex={isChoosable ? 0 : undefined}
        aria-label={isChoosable ? `${label}. ${say(chartTexts).keys}` : label}
        onKeyDown={isChoosable ? onKeyDown : undefined}
        onFocus={() => (isFocused.value = true)}
        onBlur={() => (isFocused.value = false)}
      >
        <div class="chart" ref={host} role="img" aria-label={label} />
      </section>
      <Legend
        {...props}
        at={pointed !== null && pointed < times.length ? pointed : (stretch?.last ?? newest)}
      />
      <Chosen {...props} stretch={stretch} />
    </div>
  )
}

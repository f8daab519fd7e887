import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { language } from '../i18n/define.ts'
import { formatClock } from '../i18n/format.ts'

export interface ChartProps {
  label: string
  /** Seconds since the epoch, ascending. */
  times: readonly number[]
  series: readonly { name: string; values: readonly number[]; color: string }[]
}

/** A small chart of counts over time; the numbers stand beside it in words. */
export function Chart({ label, times, series }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  // The language names days and months.
  useEffect(() => {
    const element = host.current!
    const css = getComputedStyle(element)
    const color = (name: string) => css.getPropertyValue(name)
    // light-dark() is not resolved by getPropertyValue; an element's own colour is.
    const probe = document.createElement('i')
    element.append(probe)
    const resolve = (name: string) => {
      probe.style.color = `var(${name})`
      return getComputedStyle(probe).color || color(name)
    }
    const toTimes = (_: uPlot, splits: number[]) =>
      splits.map((seconds) => formatClock(new Date(seconds * 1000).toISOString()))
    const axis = {
      stroke: resolve('--muted'),
      grid: { stroke: resolve('--line'), width: 1 },
      ticks: { show: false },
    }
    const bars = uPlot.paths.bars?.({ size: [0.7, 24] })
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 130,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, max) => [0, Math.max(max, 1)] } },
        axes: [
          { ...axis, values: toTimes, space: 70 },
          { ...axis, size: 36, incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000] },
        ],
        series: [
          {},
          ...series.map(({ name, color: of }) => ({
            label: name,
            stroke: resolve(of),
            fill: resolve(of),
            ...(bars ? { paths: bars } : {}),
            points: { show: false },
          })),
        ],
      },
      // A bar of nothing is no bar.
      [[...times], ...series.map(({ values }) => values.map((value) => value || null))],
      element,
    )
    probe.remove()
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 130 }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, language.value])
  return <div class="chart" ref={host} role="img" aria-label={label} />
}

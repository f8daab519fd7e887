import { signal } from '@preact/signals'

const media = window.matchMedia('(max-width: 760px)')

/** Whether the page is too narrow for a table of columns. */
export const isNarrow = signal(media.matches)

media.addEventListener('change', () => {
  isNarrow.value = media.matches
})

const half = window.matchMedia('(max-width: 1240px)')

/** Whether cells stand closer, as on half a desk; the styles have the same width. */
export const isTight = signal(half.matches)

half.addEventListener('change', () => {
  isTight.value = half.matches
})

/** Whether the navigation stands beside the page and not above it; the styles have the same width. */
const rail = window.matchMedia('(min-width: 1180px)')
const RAIL_WIDTH = 200

const measure = () => window.innerWidth - (rail.matches ? RAIL_WIDTH : 0)

/** The width of the page in pixels, from which tables learn what fits. */
export const pageWidth = signal(measure())

window.addEventListener('resize', () => {
  pageWidth.value = measure()
})

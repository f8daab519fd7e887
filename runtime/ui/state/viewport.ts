import { signal } from '@preact/signals'

const media = window.matchMedia('(max-width: 760px)')

/** Whether the page is too narrow for a table of columns. */
export const isNarrow = signal(media.matches)

media.addEventListener('change', () => {
  isNarrow.value = media.matches
})

/** Where the pages of the console stand beside the page and not above it; as in the styles. */
const rail = window.matchMedia('(min-width: 1180px)')
const RAIL_WIDTH = 200

const measure = () => window.innerWidth - (rail.matches ? RAIL_WIDTH : 0)

/** How wide the page is, for what gives way where it does not fit. */
export const pageWidth = signal(measure())

window.addEventListener('resize', () => {
  pageWidth.value = measure()
})

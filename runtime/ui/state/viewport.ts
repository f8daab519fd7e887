import { signal } from '@preact/signals'

const media = window.matchMedia('(max-width: 760px)')

/** Whether the page is too narrow for a table of columns. */
export const isNarrow = signal(media.matches)

media.addEventListener('change', () => {
  isNarrow.value = media.matches
})

/** How wide the window is, for what gives way where it does not fit. */
export const pageWidth = signal(window.innerWidth)

window.addEventListener('resize', () => {
  pageWidth.value = window.innerWidth
})

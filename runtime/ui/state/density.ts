import { signal } from '@preact/signals'

/** How close rows stand. The choice is about the screen and not about the person, so it stays in this browser. */
export const DENSITIES = ['dense', 'comfortable'] as const
/** How close rows stand. */
export type Density = (typeof DENSITIES)[number]

const KEY = 'muster.density'

/** The density that is shown. */
export const density = signal<Density>(localStorage.getItem(KEY) === 'comfortable' ? 'comfortable' : 'dense')

density.subscribe((chosen) => {
  document.documentElement.dataset['density'] = chosen
})

/** Choose a density, and remember it in this browser. */
export function setDensity(chosen: Density): void {
  density.value = chosen
  if (chosen === 'dense') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, chosen)
}

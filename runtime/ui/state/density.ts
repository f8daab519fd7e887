import { signal } from '@preact/signals'

/** How close rows stand. A choice of the screen and not of the person: it stays in this browser. */
export const DENSITIES = ['dense', 'comfortable'] as const
export type Density = (typeof DENSITIES)[number]

const KEY = 'muster.density'

export const density = signal<Density>(localStorage.getItem(KEY) === 'comfortable' ? 'comfortable' : 'dense')

density.subscribe((chosen) => {
  document.documentElement.dataset['density'] = chosen
})

export function setDensity(chosen: Density): void {
  density.value = chosen
  if (chosen === 'dense') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, chosen)
}

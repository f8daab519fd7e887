import { signal } from '@preact/signals'
import { language } from './define.ts'

const LOCALES = { en: 'en-GB', fr: 'fr-FR' } as const
const locale = () => LOCALES[language.value]

/** Ticks every few seconds, so that relative times stay true. */
export const tick = signal(Date.now())

/** A whole number with the language's separators. */
export const formatNumber = (value: number, digits = 0): string =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value)

/** The exact local time, with its zone. */
export const formatExact = (iso: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'long' }).format(new Date(iso))

/** A day, such as 3 July 2026. */
export const formatDay = (iso: string): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(new Date(iso))

/** Hours and minutes of a time. */
export const formatClock = (iso: string): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(new Date(iso))

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** How long ago, in words: "4 min. ago"; "now" within ten seconds. */
export function formatAgo(iso: string): string {
  const seconds = Math.round((Date.parse(iso) - tick.value) / 1000)
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' })
  if (Math.abs(seconds) < 10) return words.format(0, 'second')
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit)
  }
  return words.format(seconds, 'second')
}

/** A duration: "4.9 s", "850 ms", "2 min 5 s". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${formatNumber(ms)} ms`
  if (ms < 60_000) return `${formatNumber(ms / 1000, 1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A list in words: "a, b and c". */
export const formatList = (items: readonly string[]): string =>
  new Intl.ListFormat(locale(), { type: 'conjunction' }).format(items)

/** The first characters of a hash, as people say it. */
export const shortHash = (hash: string | undefined | null): string => (hash ? hash.slice(0, 7) : '')

import { signal } from '@preact/signals'
import { LISTED_MAX } from '../logic/pages.ts'
import { language } from './define.ts'

const LOCALES = { en: 'en-GB', fr: 'fr-FR' } as const
type Locale = (typeof LOCALES)[keyof typeof LOCALES]

/** One formatter a language: making one costs as much as a hundred uses, and a table has hundreds of cells. */
function once<T>(make: (locale: Locale) => T): () => T {
  const made = new Map<Locale, T>()
  return () => {
    const locale = LOCALES[language.value]
    const known = made.get(locale) ?? make(locale)
    made.set(locale, known)
    return known
  }
}

const numbers = [0, 1, 2].map((digits) =>
  once((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits })),
)
const exact = once((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }))
const moment = once((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }))
const day = once((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'long' }))
const clock = once((locale) => new Intl.DateTimeFormat(locale, { timeStyle: 'short' }))
const relative = once((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
const inMonths = once((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'long' }))
const list = once((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }))

/** Ticks every few seconds, so that relative times stay true. */
export const tick = signal(Date.now())

/** A number with the language's separators and at most two decimals. */
export const formatNumber = (value: number, digits: 0 | 1 | 2 = 0): string => numbers[digits]!().format(value)

/** How many rows a list has that was read up to `LISTED_MAX`: "200+" where there may be more. */
export const formatListed = (count: number): string =>
  count < LISTED_MAX ? formatNumber(count) : `${formatNumber(LISTED_MAX)}+`

/** The exact local time, with its zone. */
export const formatExact = (iso: string): string => exact().format(new Date(iso))

/** The local day and time to the second: what is compared. */
export const formatMoment = (iso: string): string => moment().format(new Date(iso))

/** A day, such as 3 July 2026. */
export const formatDay = (iso: string): string => day().format(new Date(iso))

/** Hours and minutes of a time. */
export const formatClock = (iso: string): string => clock().format(new Date(iso))

const dayAndClock = once(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
)

/** Hours and minutes of a time of today; of another day that as well. */
export const formatWhen = (iso: string): string =>
  formatDay(iso) === formatDay(new Date(tick.value).toISOString())
    ? formatClock(iso)
    : dayAndClock().format(new Date(iso))

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
  const words = relative()
  if (Math.abs(seconds) < 10) return words.format(0, 'second')
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size)
      // The short French month is “m.”, as a minute might be.
      return (unit === 'month' && language.value === 'fr' ? inMonths() : words).format(
        Math.trunc(seconds / size),
        unit,
      )
  }
  return words.format(seconds, 'second')
}

/** A duration: "4.9 s", "850 ms", "2 min 5 s", "1 h". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0 s' : `${formatNumber(ms)} ms`
  if (ms < 60_000) return `${formatNumber(ms / 1000, ms < 10_000 ? 1 : 0)} s`
  const seconds = Math.round(ms / 1000)
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const parts =
    hours > 0
      ? [[hours, 'h'] as const, [minutes, 'min'] as const]
      : [[minutes, 'min'] as const, [rest, 's'] as const]
  return parts
    .filter(([value], at) => at === 0 || value > 0)
    .map(([value, unit]) => `${formatNumber(value)} ${unit}`)
    .join(' ')
}

/** How long it is until something, in whole seconds; never less than none. */
export const formatLeft = (ms: number): string => formatDuration(Math.ceil(Math.max(0, ms) / 1000) * 1000)

/** A list in words: "a, b and c". */
export const formatList = (items: readonly string[]): string => list().format(items)

/** The first seven characters of a hash; empty where there is none. */
export const shortHash = (hash: string | undefined | null): string => (hash ? hash.slice(0, 7) : '')

/** Somebody's own words within a sentence, in the marks of the reader's language. */
export const quoted = (text: string): string =>
  language.value === 'fr' ? `«\u00a0${text}\u00a0»` : `“${text}”`

import { signal } from '@preact/signals'
import type { Language } from '../../../lib/wire/identity.ts'

/** The same keys with the same arguments; a text that is missing in one language does not compile. */
export type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => R
    : T[K] extends string
      ? string
      : Translated<T[K]>
}

/** Texts of one area in both languages. */
export interface Texts<T> {
  en: T
  fr: Translated<T>
}

/** The blanks of French before `:`, `;`, `?`, `!` and inside of guillemets: no line may break there. */
export const setBlanks = (text: string): string => text.replace(/ (?=[:;?!»](?!\S))|(?<=«) /g, '\u00a0')

/** A text, or what makes one, with the blanks of French. */
function withBlanks<T>(part: T): T {
  if (typeof part === 'string') return setBlanks(part) as T
  if (typeof part === 'function')
    return ((...args: unknown[]) => withBlanks((part as (...given: unknown[]) => unknown)(...args))) as T
  if (Array.isArray(part)) return part.map(withBlanks) as T
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withBlanks(value)])) as T
}

/** Declare the texts of one area, both languages side by side. */
export const defineTexts = <T>({ en, fr }: { en: T; fr: NoInfer<Translated<T>> }): Texts<T> => ({
  en,
  fr: withBlanks(fr),
})

/** The language shown, everywhere at once. */
export const language = signal<Language>('en')

/** An area's texts in the language shown. */
export const say = <T>(texts: Texts<T>): T => texts[language.value] as T

/** French “de” before a name, as one says it: “d’olga@example.com”. */
export const ofFr = (name: string): string =>
  /^[aeiouyhàâéèêëîïôœù]/i.test(name) ? `d’${name}` : `de ${name}`

/** `one` for exactly one (and in French for none), else `many`. */
export function plural(count: number, one: string, many: string): string {
  const isOne = language.value === 'fr' ? Math.abs(count) < 2 : count === 1
  return isOne ? one : many
}

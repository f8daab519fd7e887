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

/** Declare the texts of one area, both languages side by side. */
export const defineTexts = <T>(texts: { en: T; fr: NoInfer<Translated<T>> }): Texts<T> => texts

/** The language shown, everywhere at once. */
export const language = signal<Language>('en')

/** An area's texts in the language shown. */
export const say = <T>(texts: Texts<T>): T => texts[language.value] as T

/** `one` for exactly one (and in French for none), else `many`. */
export function plural(count: number, one: string, many: string): string {
  const isOne = language.value === 'fr' ? Math.abs(count) < 2 : count === 1
  return isOne ? one : many
}

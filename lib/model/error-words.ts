import type { AboutError } from './alert-about.ts'

/** What each parameter of an error says, in English, and in which order they are said: how they were stored is chance. */
export const PARAMETER_WORDS = {
  port: (value: string) => `port ${value}`,
  component_type: (value: string) => `component ${value}`,
  yaml_line: (value: string) => `line ${value}`,
  exit_code: (value: string) => `exit code ${value}`,
  unknown_host: (value: string) => `no such host ${value}`,
  address: (value: string) => value,
}

const KEYS = Object.keys(PARAMETER_WORDS) as (keyof typeof PARAMETER_WORDS)[]

/** What an error is about, in these words, in their order; what is not known is left out. */
export const sayParameters = (
  words: typeof PARAMETER_WORDS,
  of: Readonly<Record<string, string>> = {},
): string[] => KEYS.flatMap((key) => (of[key] === undefined ? [] : [words[key](of[key])]))

/**
 * An error's title with what it is about, such as a port or a host, or what the instance says itself; empty where nothing
 * is known.
 */
export function sayError(
  title = '',
  { error_parameters: parameters, error_message: own = '' }: AboutError = {},
): string {
  const about = sayParameters(PARAMETER_WORDS, parameters)
  return [title, ...(about.length > 0 ? about : [own])].filter((part) => part !== '').join(', ')
}

import type { AboutError } from './alert-about.ts'

/** What each parameter of an error says, in English. */
export const PARAMETER_WORDS = {
  port: (value: string) => `port ${value}`,
  component_type: (value: string) => `component ${value}`,
  yaml_line: (value: string) => `line ${value}`,
  exit_code: (value: string) => `exit code ${value}`,
  unknown_host: (value: string) => `no such host ${value}`,
  address: (value: string) => value,
}

const isKnown = (key: string): key is keyof typeof PARAMETER_WORDS => Object.hasOwn(PARAMETER_WORDS, key)

/**
 * An error's title with what it is about, such as a port or a host, or what the instance says itself; empty where nothing
 * is known.
 */
export function sayError(
  title = '',
  { error_parameters: parameters = {}, error_message: own = '' }: AboutError = {},
): string {
  const about = Object.entries(parameters).flatMap(([key, value]) =>
    isKnown(key) ? [PARAMETER_WORDS[key](value)] : [],
  )
  return [title, ...(about.length > 0 ? about : [own])].filter((part) => part !== '').join(', ')
}

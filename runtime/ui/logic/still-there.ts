import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { RevisionErrorGroup } from '../../../lib/wire/revisions.ts'
import { namesWord, withoutComments } from './words-of-config.ts'

/** What an error may be about that a config can hold, the most telling first. */
const HELD = ['component_type', 'unknown_host', 'address'] as const

/** Lines that are comments as a whole. */
const COMMENT_LINES = /^[ \t]*#.*$/gm

/**
 * What an error is about, and whether a config holds it still; null where it is about nothing that one could hold, and
 * where its text does not tell.
 */
export function findStillThere(
  of: Pick<RevisionErrorGroup, 'cause' | 'error_parameters'> | undefined,
  yaml: string,
): { about: Record<string, string>; isThere: boolean } | null {
  const about = of?.error_parameters
  // A port stands at both ends of a connection, and not at all where a receiver listens on its own default.
  if (about?.['port'] !== undefined) return null
  const key = HELD.find((one) => about?.[one] !== undefined)
  const value = key === undefined ? undefined : about?.[key]
  if (key === undefined || value === undefined) return null
  const isThere = namesWord(withoutComments(yaml), value)
  // What stands behind a sign of a comment only may be in a quoted text after all.
  if (!isThere && namesWord(yaml.replaceAll(COMMENT_LINES, ''), value)) return null
  // What was wrong with a component's settings, or with what names it, may be mended where the component stays.
  if (isThere && key === 'component_type' && of?.cause !== 'component_unknown') return null
  return { about: { [key]: value }, isThere }
}

/** The first line, from 1, of a config that an error is about; null where its text does not tell. */
export function lineOfFault(
  of: Pick<RevisionErrorGroup, 'error_parameters'> | undefined,
  yaml: string,
): number | null {
  const { yaml_line: line, ...about } = of?.error_parameters ?? {}
  if (line !== undefined) return Number(line)
  const value = [...HELD, 'port'].map((key) => about[key]).find((one) => one !== undefined)
  if (value === undefined) return null
  const at = yaml.split('\n').findIndex((one) => namesWord(withoutComments(one), value))
  return at < 0 ? null : at + 1
}

/** The exporters that fail which a change is known to do something to, else those that it is known to leave. */
export function pickTouched(failing: NonNullable<ConfigPlan['failing_now']>): {
  names: string[]
  isChanged: boolean
} {
  const isChanged = failing.some(({ is_changed: isTouched }) => isTouched)
  const named = failing.filter(({ is_changed: isTouched }) => isTouched === isChanged)
  return { names: named.map(({ component }) => component), isChanged }
}

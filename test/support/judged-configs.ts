import { existsSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A line of `verdicts.jsonl`: what `validate` of a real collector said of a file beside it. */
export interface Judged {
  file: string
  class: 'valid' | 'environment' | 'unknown_component' | 'component_config' | 'structure' | 'yaml'
  error?: string
  /** Further errors of the same run. */
  also?: string[]
}

/** Configs of other people; none, and why, where they are not here. */
export interface JudgedConfigs {
  folder: string
  judged: readonly Judged[]
  /** The names of all configs in the folder. */
  files: readonly string[]
  skipped: string | null
}

/**
 * Configs of other people with the verdicts of a real collector. They are not in the repository: they are looked for in a
 * folder beside the checkout, or in the one that MUSTER_TEST_VERDICTS names. Without the first the tests of them are skipped,
 * and say so. Throws where a folder is named that is not there, or one is there that lacks the verdicts.
 */
export function readJudgedConfigs(
  named = process.env['MUSTER_TEST_VERDICTS'] || null,
  besides = fileURLToPath(new URL('../../../shared/fixtures/configs', import.meta.url)),
): JudgedConfigs {
  const folder = named ?? besides
  if (named === null && !existsSync(folder)) {
    const skipped = `there is no ${folder}; MUSTER_TEST_VERDICTS names another folder`
    return { folder, judged: [], files: [], skipped }
  }
  const verdicts = join(folder, 'verdicts.jsonl')
  const text = existsSync(verdicts) ? readFileSync(verdicts, 'utf8').trim() : ''
  if (text === '')
    throw new Error(`Configs with verdicts were expected in ${folder}, and ${verdicts} holds none`)
  const judged = text.split('\n').map((line) => JSON.parse(line) as Judged)
  return {
    folder,
    judged,
    files: readdirSync(folder).filter((name) => name.endsWith('.yaml')),
    skipped: null,
  }
}

/** Say past whatever keeps the output of tests quiet that tests are skipped, and why; `.ci/run` says it again at its end. */
export function sayIfSkipped({ skipped }: JudgedConfigs, what: string): void {
  if (skipped !== null) writeSync(2, `*** SKIPPED: ${what}: ${skipped} ***\n`)
}

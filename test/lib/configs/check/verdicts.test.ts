import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { validateStatically } from '../../../../lib/configs/check/validate.ts'

/** What a static validation says of a text: nothing, or which check refuses it. */
function verdictOf(text: string): string {
  const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }
  const failed = validateStatically(text, about).checks.find(({ status }) => status === 'failed')
  return failed?.id ?? 'valid'
}

const own = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'fixtures', 'configs')
const OWN_VERDICTS: Readonly<Record<string, string>> = {
  valid: 'valid',
  structure: 'collector_structure',
  yaml: 'yaml_static',
}

describe('configs of our own, named by what is to be said of them', () => {
  it.each(readdirSync(own).filter((name) => name.endsWith('.yaml')))('%s', (name) => {
    expect(verdictOf(readFileSync(join(own, name), 'utf8'))).toBe(OWN_VERDICTS[name.split('-')[0]!])
  })
})

/** A line of `verdicts.jsonl`: what `validate` of a real collector said of a file beside it. */
interface Judged {
  file: string
  class: 'valid' | 'environment' | 'unknown_component' | 'component_config' | 'structure' | 'yaml'
}

// A folder of configs with the verdicts of a real collector; there is none in the repository.
const folder = process.env['MUSTER_TEST_VERDICTS'] ?? ''
const judged: Judged[] = existsSync(join(folder, 'verdicts.jsonl'))
  ? readFileSync(join(folder, 'verdicts.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Judged)
  : []

describe('configs that a collector judged', () => {
  it.skipIf(judged.length === 0)(
    'are there (skipped: set MUSTER_TEST_VERDICTS to a folder with verdicts.jsonl)',
    () => {
      expect(judged.length).toBeGreaterThan(0)
    },
  )

  it.each(judged)('$file is $class', (one) => {
    const verdict = verdictOf(readFileSync(join(folder, one.file), 'utf8'))
    if (one.class === 'structure') expect(verdict).toBe('collector_structure')
    else if (one.class === 'yaml') expect(verdict).toBe('yaml_static')
    // The collector stops at a component's settings; what is wrong behind that may be found by us.
    else if (one.class === 'component_config') expect(['valid', 'collector_structure']).toContain(verdict)
    else expect(verdict).toBe('valid')
  })
})

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'

/** Downloads a Go module and returns its folder; null without Go. */
function fetchModule(name: string): string | null {
  if (spawnSync('go', ['version']).status !== 0) return null
  const asked = ['mod', 'download', '-json', name]
  return JSON.parse(execFileSync('go', asked, { cwd: tmpdir(), encoding: 'utf8' })).Dir
}

const newReader = () => new Ajv({ strict: false, validateFormats: false })

/** The schema of SARIF 2.1.0 as OASIS publishes it, taken from a Go module that contains it; null without Go. */
export function readSarifSchema(): ValidateFunction | null {
  const folder = fetchModule('github.com/owenrumney/go-sarif/v3@v3.3.1')
  if (folder === null) return null
  const text = readFileSync(join(folder, 'pkg/report/v210/sarif/schema.go'), 'utf8')
  const schema = JSON.parse(/^const schema = `([^`]+)`/m.exec(text)![1]!)
  if (!schema.title.includes('SARIF) Version 2.1.0'))
    throw new Error(`not the schema of SARIF: ${schema.title}`)
  // The schema is written for draft 4 of JSON Schema. Later drafts read what it uses in the same way, except for its
  // `id`.
  const { $schema: _, id: __, ...rest } = schema
  return newReader().compile(rest)
}

/** The schema of CycloneDX 1.6 as its project publishes it, taken from that project's Go module; null without Go. */
export function readCycloneDxSchema(): ValidateFunction | null {
  const folder = fetchModule('github.com/CycloneDX/cyclonedx-go@v0.9.2')
  if (folder === null) return null
  const read = (file: string) => JSON.parse(readFileSync(join(folder, 'schema', file), 'utf8'))
  const reader = newReader()
  for (const file of ['spdx.schema.json', 'jsf-0.82.schemax.json']) reader.addSchema(read(file))
  return reader.compile(read('bom-1.6.schema.json'))
}

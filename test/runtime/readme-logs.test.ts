import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const README = readFileSync(`${ROOT}/README.md`, 'utf8')

it('the README names the fields of the log, as they are written where something is logged', () => {
  const [said = ''] = /^- \*\*Logs\*\*[\s\S]*?(?=\n- \*\*)/m.exec(README) ?? []
  const named = new Set([...said.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const paths = ['lib', 'functions', 'runtime'].flatMap((room) =>
    readdirSync(`${ROOT}/${room}`, { recursive: true })
      .map((path) => `${room}/${path}`)
      .filter((path) => path.endsWith('.ts')),
  )
  // What runs elsewhere than in the service has no log.
  const service = paths.filter((path) => !/^runtime\/(build|cli|quickstart|ui)\//.test(path))
  const fields = service.flatMap((path) =>
    [
      ...readFileSync(`${ROOT}/${path}`, 'utf8').matchAll(/\blog\.(?:info|warn|error)\(\s*\{([^{}]*)\}/g),
    ].flatMap(([, literal = '']) =>
      [...literal.matchAll(/(?:^|,)\s*(\w+)(?=\s*(?:[:,]|$))/g)].map(([, field = '']) => ({ field, path })),
    ),
  )
  expect(fields.length).toBeGreaterThan(80)
  expect(fields.filter(({ field }) => !named.has(field))).toEqual([])
})

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  string,
  Record<string, string>
>
const section = read('README.md').split('\n## What it is made of\n')[1]!.split('\n## ')[0]!

it('the README names every package that the service is made of, and no other', () => {
  const rows = section.split('\n').flatMap((line) => line.match(/^\| (\S[^|]*?) +\|/)?.[1] ?? [])
  const named = rows
    .filter((cell) => cell !== 'package' && !cell.startsWith('---'))
    .flatMap((cell) =>
      cell.includes('`') ? [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!) : [cell],
    )
  expect(named.sort()).toEqual(Object.keys(dependencies!).sort())
})

it('the README names what only tests and the build use, by families', () => {
  const spoken: Record<string, RegExp> = {
    '@codemirror': /CodeMirror/,
    '@dagrejs': /dagre/,
    '@elastic': /Elastic's OpAMP client/,
    '@preact': /Preact with its signals/,
    preact: /Preact/,
    uplot: /uPlot/,
  }
  // What checks and types the code is no part of what runs.
  const silent = ['@biomejs', '@types', 'typescript']
  for (const name of Object.keys(devDependencies!)) {
    const family = name.split('/')[0]!
    if (!silent.includes(family)) expect(section, name).toMatch(spoken[family] ?? RegExp(name))
  }
})

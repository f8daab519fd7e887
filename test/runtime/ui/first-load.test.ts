import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildUi } from '../../../runtime/ui/build.mjs'

let directory: string
let index: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'muster-ui-'))
  await buildUi(directory)
  index = await readFile(join(directory, 'index.html'), 'utf8')
}, 60_000)

afterAll(() => rm(directory, { recursive: true, force: true }))

/** The addresses in the page that the pattern's first group captures: files that load before the user does anything. */
const listAddresses = (pattern: RegExp) => [...index.matchAll(pattern)].map((match) => match[1] ?? '')

async function gzippedBytes(addresses: readonly string[]): Promise<number> {
  const texts = await Promise.all(addresses.map((address) => readFile(join(directory, address))))
  return texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).byteLength, 0)
}

test('the first load is at most 90 kB of script and 15 kB of style, gzipped', async () => {
  const scripts = listAddresses(/(?:src|modulepreload" href)="([^"]+\.js)"/g)
  const styles = listAddresses(/href="([^"]+\.css)"/g)
  expect(scripts.length).toBeGreaterThan(0)
  expect(styles).toHaveLength(1)
  expect(await gzippedBytes(scripts)).toBeLessThanOrEqual(90_000)
  expect(await gzippedBytes(styles)).toBeLessThanOrEqual(15_000)
})

test('the editor, the charts and the layout of pipelines are no part of it', async () => {
  const scripts = listAddresses(/(?:src|modulepreload" href)="([^"]+\.js)"/g)
  const texts = await Promise.all(scripts.map((address) => readFile(join(directory, address), 'utf8')))
  // Names of CSS classes and options by which the code of the editor, the charts and the graph layout is recognised.
  for (const mark of ['cm-editor', 'u-over', 'rankdir']) expect(texts.join('')).not.toContain(mark)
})

test('the page holds no script of its own and loads nothing from elsewhere', () => {
  expect(index).not.toMatch(/<script(?![^>]*\bsrc=)/)
  expect(index).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  expect(index).not.toMatch(/\son\w+=/)
})

test('every asset has its content in its name, and compressed copies beside it', async () => {
  const assets = await readdir(join(directory, 'assets'))
  const plain = assets.filter((name) => !/\.(br|gz)$/.test(name))
  expect(plain.length).toBeGreaterThan(5)
  for (const name of plain) {
    expect(name).toMatch(/-[A-Z0-9]{8}\.(js|css)$/)
    expect(assets).toEqual(expect.arrayContaining([`${name}.br`, `${name}.gz`]))
  }
})

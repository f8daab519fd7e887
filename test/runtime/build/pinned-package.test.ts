import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'

// The image holds what its checked-in hashes say, whatever the registry answers and whatever lies in the cache.

type Run = (command: string, args: string[]) => void
interface Pinned {
  unpackPinned(
    one: { name: string; version: string; integrity: string },
    where: { cache: string; target: string; run: Run },
  ): void
}
// The build is plain JavaScript.
const file: string = '../../../runtime/build/pinned-package.mjs'
const { unpackPinned } = (await import(file)) as Pinned

let folder: string
let good: string
let fetches: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-pinned-'))
  fetches = 0
  good = await pack('good')
  return () => rm(folder, { recursive: true })
})

/** An archive as npm packs one, with a file that holds a text. */
async function pack(text: string): Promise<string> {
  await mkdir(join(folder, text, 'package'), { recursive: true })
  await writeFile(join(folder, text, 'package', 'file'), text)
  const archive = join(folder, `${text}.tgz`)
  execFileSync('tar', ['-czf', archive, '-C', join(folder, text), 'package'])
  return archive
}

async function take(answer: string): Promise<string> {
  const hash = createHash('sha512')
    .update(await readFile(good))
    .digest('base64')
  const target = join(folder, 'target')
  const run: Run = (command, args) => {
    if (command !== 'npm') return void execFileSync(command, args)
    fetches++
    execFileSync('cp', [answer, args[args.indexOf('--pack-destination') + 1]!])
  }
  const where = { cache: join(folder, 'cache'), target, run }
  unpackPinned({ name: '@a/b', version: '1.0.0', integrity: `sha512-${hash}` }, where)
  return readFile(join(target, 'file'), 'utf8')
}

describe('a pinned package', () => {
  it('is fetched once, and unpacked from the cache after that', async () => {
    expect([await take(good), await take(good), fetches]).toEqual(['good', 'good', 1])
  })

  it('is refused where the registry answers with another one', async () => {
    const other = await pack('other')
    await expect(take(other)).rejects.toThrow('not what its hash says')
    expect(await readdir(join(folder, 'cache'))).toEqual([])
  })

  it('is fetched anew where the copy in the cache is another one', async () => {
    await take(good)
    const [cached = ''] = await readdir(join(folder, 'cache'))
    await writeFile(join(folder, 'cache', cached), await readFile(await pack('other')))
    expect([await take(good), fetches]).toEqual(['good', 2])
  })
})

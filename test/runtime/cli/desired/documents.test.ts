import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { runClient } from '../../../../runtime/cli/client.ts'
import { readDesiredState } from '../../../../runtime/cli/desired/documents.ts'

// A folder may hold what a stranger wrote: nothing outside it is sent, and what it says gives no orders to a log.

let root: string
let folder: string
const put = (configFile: string) =>
  writeFile(
    join(folder, 'a.yaml'),
    `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: {id: w}\nconfigFile: ${configFile}\n`,
  )
const read = async () => (await readDesiredState(folder)).workloads.map(({ config }) => config)

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-documents-'))
  folder = join(root, 'fleet')
  await mkdir(join(folder, 'configs'), { recursive: true })
  await writeFile(join(root, 'secret'), 'a secret')
  await writeFile(join(folder, 'configs', 'gateway.yaml'), 'receivers: {}')
  return () => rm(root, { recursive: true, force: true })
})

describe('the file that a document names', () => {
  it('is one of the folder, also by a link inside it', async () => {
    await put('configs/gateway.yaml')
    expect(await read()).toEqual(['receivers: {}'])
    await symlink('configs/gateway.yaml', join(folder, 'link'))
    await put('link')
    expect(await read()).toEqual(['receivers: {}'])
  })

  it('is not counted among those that hold no document', async () => {
    await put('configs/gateway.yaml')
    await writeFile(join(folder, 'configs', 'notes.yaml'), 'nothing: of muster')
    expect((await readDesiredState(folder)).others).toBe(1)
  })

  it('is not sent where a link leads out of the folder, to a file, to a folder or to what this process knows', async () => {
    await symlink('../secret', join(folder, 'link'))
    await symlink('..', join(folder, 'up'))
    await symlink('/proc/self/environ', join(folder, 'environment'))
    for (const name of ['link', 'up/secret', 'environment']) {
      await put(name)
      await expect(read()).rejects.toThrow('configFile leads out of the folder')
    }
  })

  it('is not sent where it, or a link, leads to what is hidden in the folder, as what a checkout keeps of Git', async () => {
    await mkdir(join(folder, '.git'))
    await writeFile(join(folder, '.git/config'), 'extraheader = AUTHORIZATION: basic c2VjcmV0')
    await symlink('.git/config', join(folder, 'seen'))
    for (const name of ['.git/config', './configs/../.git/config', 'seen']) {
      await put(name)
      await expect(read()).rejects.toThrow(
        'configFile leads to a file or folder whose name begins with a dot',
      )
    }
  })

  it('is a file', async () => {
    await put('configs')
    await expect(read()).rejects.toThrow('configFile is no file')
  })
})

it('is told of in lines that move no cursor and give a pipeline no command', async () => {
  const key = '"x\\n##vso[task.setvariable variable=a]b\\n::error::c\\e[2J"'
  await writeFile(join(folder, 'a.yaml'), `apiVersion: muster/v1\nkind: WorkloadConfig\n${key}: 1\n`)
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const env = { MUSTER_URL: 'http://127.0.0.1:9', MUSTER_TOKEN: 'mst_x' }
  const io = { env, out: say, error: say, readInput: async () => Buffer.from(''), isTerminal: false }
  expect(await runClient(['plan', folder, '--owner', 'platform'], io)).toBe(3)
  expect(said).toContain('unknown key')
  expect(said.trimEnd()).not.toMatch(/[\p{Cc}]|##vso\[/u)
})

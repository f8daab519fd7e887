import { execFile } from 'node:child_process'
import { access, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build as bundle } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { ROOT } from '../support/environment.ts'
import { listChildren } from '../support/processes.ts'
import { readCycloneDxSchema } from '../support/published-schemas.ts'
import { type Service, startService } from '../support/service.ts'
import { expectWholeService } from '../support/smoke.ts'

const run = promisify(execFile)
const NAME = `localhost/muster:${manifest.version}`
const USER = 10_001

let folder: string
let archive: string
let rootfs: string
const services: Service[] = []

/** Build the image into a folder; returns the digest that was printed and the image's file. */
async function build(into: string, env = {}): Promise<{ digest: string; file: string }> {
  const script = join(ROOT, 'runtime', 'build', 'image.mjs')
  const options = { cwd: ROOT, env: { ...process.env, ...env } }
  const { stdout } = await run(process.execPath, [script, `--out=${into}`], options)
  const [said = '', file = ''] = stdout.trim().split('\n').slice(-2)
  return { digest: said.replace(`${NAME}: `, ''), file }
}

async function unpack(name: string): Promise<string> {
  const bundle = join(folder, name)
  await run('umoci', ['unpack', '--image', `${join(folder, 'layout')}:${NAME}`, bundle])
  return bundle
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-image-'))
  archive = (await build(join(folder, 'first'))).file
  await mkdir(join(folder, 'layout'))
  await run('tar', ['-xf', archive, '-C', join(folder, 'layout')])
  rootfs = join(await unpack('looked-at'), 'rootfs')
})

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await rm(folder, { recursive: true, force: true })
})

/** Every file of the image, as a path from its root. */
async function listFiles(): Promise<string[]> {
  const entries = await readdir(rootfs, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(rootfs.length))
}

test('the same checkout makes the same image, byte for byte, whatever the environment of whoever builds it holds', async () => {
  const again = await build(join(folder, 'second'), {
    TZ: 'Asia/Kathmandu',
    LANG: 'fr_FR.UTF-8',
    HOSTNAME: 'elsewhere',
    JWT_SECRET: 'a secret of whoever builds it',
    NPM_TOKEN: 'npm_another',
  })
  expect(again.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect((await readFile(again.file)).equals(await readFile(archive))).toBe(true)
}, 240_000)

test('other tools read it under its name, and it runs as a user of its own', async () => {
  const { stdout } = await run('skopeo', ['inspect', '--config', `oci-archive:${archive}:${NAME}`])
  expect(JSON.parse(stdout)).toMatchObject({
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '8080/tcp': {}, '4320/tcp': {} },
      Env: ['PATH=/usr/local/bin'],
    },
  })
  const status = await run('skopeo', ['inspect', `oci-archive:${archive}`])
  expect(JSON.parse(status.stdout)).toMatchObject({ Created: '1970-01-01T00:00:00Z' })
})

test('it has no shell, no second program and nothing that belongs to its user', async () => {
  const files = await listFiles()
  const programs: string[] = []
  for (const file of files) {
    const { mode, uid } = await stat(join(rootfs, file))
    expect([file, uid, mode & 0o6022]).toEqual([file, 0, 0])
    if ((mode & 0o111) !== 0 && !/\.so(\.|$)/.test(file)) programs.push(file)
  }
  expect(programs).toEqual(['/usr/local/bin/node'])
  expect((await stat(join(rootfs, 'tmp'))).mode & 0o7777).toBe(0o1777)
})

test('nothing in it can be written to but /tmp, and no link of it leads nowhere', async () => {
  const entries = await readdir(rootfs, { recursive: true, withFileTypes: true })
  expect(entries.length).toBeGreaterThan(200)
  const writable: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const shown = path.slice(rootfs.length)
    const { mode, uid, gid } = await lstat(path)
    expect([shown, uid, gid]).toEqual([shown, 0, 0])
    expect([shown, entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()]).toEqual([shown, true])
    if (!entry.isSymbolicLink()) {
      if ((mode & 0o022) !== 0) writable.push(shown)
      continue
    }
    const target = await readlink(path)
    const inside = target.startsWith('/') ? join(rootfs, target) : resolve(dirname(path), target)
    expect([shown, inside.startsWith(rootfs)]).toEqual([shown, true])
    await access(inside)
  }
  expect(writable).toEqual(['/tmp'])
})

test('nothing in it is a secret, or says where it was made', async () => {
  // A short name of a machine is a word of other things as well.
  const machine = hostname().length < 6 ? [] : [hostname()]
  const traces = [ROOT, ...machine, folder, '_authToken', '.npmrc', 'PRIVATE KEY-----\n']
  const files = (await listFiles()).filter((file) => file !== '/usr/local/bin/node')
  const found: string[] = []
  for (const file of files) {
    const bytes = await readFile(join(rootfs, file))
    for (const trace of traces) if (bytes.includes(trace)) found.push(`${file}: ${trace}`)
    if (
      /(^|\/)(\.env|\.npmrc|\.git|\.ssh|id_rsa)|\.(pem|key|map|ts)$/.test(file) &&
      !file.startsWith('/etc/ssl/')
    )
      found.push(file)
  }
  expect(found).toEqual([])
  const { stdout } = await run('skopeo', ['inspect', '--config', '--raw', `oci-archive:${archive}:${NAME}`])
  expect(traces.filter((trace) => stdout.includes(trace))).toEqual([])
})

/** The packages of npm of which something is in the bundle of the service, as esbuild itself says. */
async function bundledPackages(): Promise<Set<string>> {
  const workers = ['lib/workers', 'runtime/workers']
  const { metafile } = await bundle({
    entryPoints: [join(ROOT, 'runtime', 'main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['pg-native', 'pino-pretty', 'canvg', 'html2canvas', 'dompurify', ...workers],
    outdir: folder,
    splitting: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    absWorkingDir: ROOT,
  })
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  )
  const names = used.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
  return new Set(names.filter((name) => name !== undefined))
}

test('its bill of materials lists what was bundled, nothing that is not inside, and none of the tools', async () => {
  const bill = JSON.parse(await readFile(join(rootfs, 'opt/muster/sbom.cdx.json'), 'utf8'))
  const components = bill.components as { group?: string; name: string; version: string; purl: string }[]
  const npm = components.filter(({ purl }) => purl.startsWith('pkg:npm/'))
  const listed = npm.map(({ group, name }) => (group ? `${group}/${name}` : name))
  const bundled = await bundledPackages()
  expect(bundled.size).toBeGreaterThan(10)
  expect([...bundled].filter((name) => !listed.includes(name))).toEqual([])

  const licences = await readFile(join(rootfs, 'opt/muster/licenses.txt'), 'utf8')
  const inside = new Set([...licences.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \(/gm)].map(([, name]) => name!))
  const native = listed.filter((name) => name.startsWith('@uwsjs/linux-'))
  expect(native).toHaveLength(1)
  expect((await listFiles()).filter((file) => file.endsWith('.node'))).toHaveLength(1)
  expect(listed.filter((name) => !inside.has(name) && !native.includes(name))).toEqual([])

  // Of these parts of the pages are made; what else is needed for development alone is no part of it.
  const ofPages = /^(@codemirror\/|@dagrejs\/|@preact\/|preact$|uplot$)/
  const tools = Object.keys(manifest.devDependencies).filter((name) => !ofPages.test(name))
  expect(tools).toContain('vitest')
  expect(listed.filter((name) => tools.includes(name))).toEqual([])
  expect((await listFiles()).filter((file) => file.includes('node_modules'))).toEqual([])
})

test('its bill of materials names every package that is inside, and scanners find those of Debian', async () => {
  const bill = JSON.parse(await readFile(join(rootfs, 'opt/muster/sbom.cdx.json'), 'utf8'))
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
  const isCycloneDx = readCycloneDxSchema()
  if (isCycloneDx) expect(isCycloneDx(bill), JSON.stringify(isCycloneDx.errors)).toBe(true)
  expect(bill.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  const known = new Set<string>(
    bill.components.map((one: { group?: string; name: string; version?: string }) =>
      [one.group ? `${one.group}/${one.name}` : one.name, one.version ?? ''].join(' '),
    ),
  )
  // Each component is listed once, and every dependency is one of them.
  const references: string[] = bill.components.map((one: { 'bom-ref': string }) => one['bom-ref'])
  expect(new Set(references).size).toBe(references.length)
  expect(bill.dependencies).toEqual([{ ref: 'muster', dependsOn: references }])

  const status = join(rootfs, 'var/lib/dpkg/status.d')
  const debian = await readdir(status)
  expect(debian.sort()).toEqual(['base-files', 'ca-certificates', 'libc6', 'libgcc-s1', 'libstdc++6'])
  for (const name of debian) {
    const version = /^Version: (.*)$/m.exec(await readFile(join(status, name), 'utf8'))?.[1]
    expect([...known]).toContain(`${name} ${version}`)
  }
  const licences = await readFile(join(rootfs, 'opt/muster/licenses.txt'), 'utf8')
  const bundled = [...licences.matchAll(/^(\S+ \d+\.\d+\.\d+) \(/gm)].map((match) => match[1]!)
  // Every bundled package, also one that another package brings along, is in the list of the production dependencies.
  for (const name of ['pg', 'yaml', 'preact', 'jspdf'])
    expect(bundled.join('\n')).toMatch(RegExp(`^${name} `, 'm'))
  expect(bundled.filter((one) => !known.has(one))).toEqual([])
  expect(references.some((one) => one.startsWith('pkg:npm/%40uwsjs/linux-'))).toBe(true)
  const node = await run(join(rootfs, 'usr/local/bin/node'), ['-p', 'JSON.stringify(process.versions)'])
  const { modules, napi, unicode, cldr, tz, ...inside } = JSON.parse(node.stdout) as Record<string, string>
  expect(Object.keys(inside)).toContain('openssl')
  expect([...known]).toEqual(
    expect.arrayContaining(Object.entries(inside).map(([name, version]) => `${name} ${version}`)),
  )
  expect(references.filter((one) => one.startsWith('pkg:github/google/boringssl'))).toHaveLength(1)
})

test.each([
  ['nothing to write to', []],
  ['a /tmp from which nothing runs', ['--noexec-tmp']],
])(
  'runc starts the service in it, without privileges, with a root that is read only and %s',
  async (_, tmp) => {
    const name = `run${tmp.join('')}`
    const unpacked = await unpack(name)
    const script = join(ROOT, 'test/e2e/image/run-image.mjs')
    const args = [script, unpacked, `muster-e2e-${process.pid}-${name}`, ...tmp]
    const service = await startService({ args, cwd: folder })
    services.push(service)
    await expectWholeService(service)
    const [runc = 0] = await listChildren(service.process().pid)
    const [node = 0] = await listChildren(runc)
    const status = await readFile(`/proc/${node}/status`, 'utf8')
    expect(status).toMatch(RegExp(`^Uid:\\t${USER}\\t${USER}\\t${USER}\\t${USER}$`, 'm'))
    expect(status).toMatch(/^CapBnd:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    const mounts = await readFile(`/proc/${node}/mountinfo`, 'utf8')
    expect(mounts).toMatch(/^\S+ \S+ \S+ \S+ \/ ro[, ]/m)
    expect(/^\S+ \S+ \S+ \S+ \/tmp \S*noexec/m.test(mounts)).toBe(tmp.length > 0)
    await service.stop()
    expect(service.process().exitCode()).toBe(0)
  },
)

test("it holds Node's licence, the copyright of each package of Debian, and every common licence that one points to", async () => {
  expect(await readFile(join(rootfs, 'usr/local/share/doc/node/LICENSE'), 'utf8')).toContain('Node.js')
  const docs = join(rootfs, 'usr/share/doc')
  const named = new Set<string>()
  for (const name of await readdir(join(rootfs, 'var/lib/dpkg/status.d'))) {
    const text = await readFile(join(docs, name, 'copyright'), 'utf8')
    for (const [path] of text.matchAll(/\/usr\/share\/common-licenses\/[\w-]+(?:\.\d+)?/g)) named.add(path)
  }
  expect(named.size).toBeGreaterThan(2)
  for (const path of named) await access(join(rootfs, path))
})

// The part of Debian that the image has: the libraries that Node links to, and what scanners and TLS look for.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

/**
 * What is taken of each package, besides its copyright: the libraries themselves, without tables, tools and manuals. The
 * copyrights point to the common licences.
 */
const PACKAGES = {
  'base-files': ['etc/os-release', 'etc/debian_version', 'usr/lib/os-release', 'usr/share/common-licenses'],
  libc6: ['lib', 'lib64', 'usr/lib64', 'etc/ld.so.conf.d', 'usr/lib'],
  'libgcc-s1': ['lib', 'usr/lib'],
  'libstdc++6': ['usr/lib'],
  'ca-certificates': ['usr/share/ca-certificates'],
}
/** Files that are left out of the folders above: character tables, aids for auditing and debugging. */
const LEFT_OUT = /\/(gconv|audit|libc_malloc_debug|libmemusage|libpcprofile|libthread_db|locale|bfd-plugins)/

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  })
  if (error) throw new Error(`${command} cannot be run (${error.code}): the image is built on Debian`)
  if (status !== 0)
    throw new Error(`${command} ${args[0]} ended with ${status}: ${stderr.trim().slice(-800)}`)
  return stdout
}

/** `Name: value` of a control file. */
const field = (control, name) => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? ''

/** The package that has the copyright of one that is unpacked; packages of one source may share one. */
function packageOfCopyright(unpacked, name) {
  const doc = join(unpacked, 'usr', 'share', 'doc', name)
  return lstatSync(doc).isSymbolicLink() ? basename(readlinkSync(doc)) : name
}

/** Copy the copyright of one unpacked package. Throws where there is none: what is passed on must have it. */
function takeCopyright(unpacked, name, root, work) {
  const owner = packageOfCopyright(unpacked, name)
  let from = unpacked
  if (owner !== name) {
    const debs = join(work, 'copyrights')
    from = join(work, 'unpacked-copyright')
    for (const folder of [debs, from]) rmSync(folder, { recursive: true, force: true })
    mkdirSync(debs)
    run('apt-get', ['-qq', 'download', owner], debs)
    for (const file of readdirSync(debs)) run('dpkg-deb', ['-x', join(debs, file), from], work)
  }
  const copyright = readFileSync(join(from, 'usr', 'share', 'doc', owner, 'copyright'))
  const folder = join(root, 'usr', 'share', 'doc', name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'copyright'), copyright)
}

/**
 * Copy the wanted parts of one unpacked package, and the control file by which scanners know that it is there.
 */
function take(unpacked, name, parts, control, root) {
  for (const part of parts) {
    const from = join(unpacked, part)
    if (existsSync(from))
      cpSync(from, join(root, part), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !LEFT_OUT.test(path.slice(unpacked.length)),
      })
  }
  const status = join(root, 'var', 'lib', 'dpkg', 'status.d')
  mkdirSync(status, { recursive: true })
  writeFileSync(join(status, name), control)
}

/** Move /lib and /lib64 below /usr and leave links to them, as Debian itself has had it since version 12. */
function mergeUsr(root) {
  for (const name of ['lib', 'lib64']) {
    const [top, below] = [join(root, name), join(root, 'usr', name)]
    if (existsSync(top)) {
      cpSync(top, below, { recursive: true, verbatimSymlinks: true })
      rmSync(top, { recursive: true })
    }
    if (existsSync(below)) symlinkSync(`usr/${name}`, top)
  }
}

/** One file with all certificates, where programs look for it. */
function joinCertificates(root) {
  const folder = join(root, 'usr', 'share', 'ca-certificates')
  const files = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.crt'))
    .sort()
  const certificates = join(root, 'etc', 'ssl', 'certs')
  mkdirSync(certificates, { recursive: true })
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').trim())
  writeFileSync(join(certificates, 'ca-certificates.crt'), `${texts.join('\n')}\n`)
  rmSync(folder, { recursive: true })
}

/**
 * Fill the empty folder `root` with what is taken of the packages: apt downloads them, and they are unpacked in
 * `work`. Returns them as components of a bill of materials.
 */
export function layDebian(root, work) {
  const debs = join(work, 'debs')
  rmSync(debs, { recursive: true, force: true })
  mkdirSync(debs, { recursive: true })
  run('apt-get', ['-qq', 'download', ...Object.keys(PACKAGES)], debs)
  const components = []
  for (const file of readdirSync(debs).sort()) {
    const deb = join(debs, file)
    const unpacked = join(work, 'unpacked')
    rmSync(unpacked, { recursive: true, force: true })
    run('dpkg-deb', ['-x', deb, unpacked], work)
    const control = `${run('dpkg-deb', ['-f', deb], work).trim()}\n`
    const [name, version, arch] = ['Package', 'Version', 'Architecture'].map((one) => field(control, one))
    take(unpacked, name, PACKAGES[name], control, root)
    takeCopyright(unpacked, name, root, work)
    components.push({
      type: 'library',
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`,
    })
  }
  mergeUsr(root)
  joinCertificates(root)
  return components
}

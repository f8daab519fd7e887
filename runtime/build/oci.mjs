// Turns folders into an OCI image archive, each folder a layer. The same folders make the same bytes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const EPOCH = '1970-01-01T00:00:00Z'
const TYPE = 'application/vnd.oci.image'
const TAR = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']

const digestOf = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** The folder's content as a tar; who owns the files and when they were written makes no difference. */
function tar(folder) {
  const { status, stdout, stderr } = spawnSync(
    'tar',
    [...TAR, '-C', folder, '-cf', '-', ...readdirSync(folder).sort()],
    {
      maxBuffer: 1_000_000_000,
    },
  )
  if (status !== 0) throw new Error(`tar ended with ${status}: ${stderr}`)
  return stdout
}

/** Give every file and folder the mode that it is to have, whatever the umask was: programs may be run by all. */
function setModes(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      chmodSync(path, entry.name === 'tmp' ? 0o1777 : 0o755)
      setModes(path)
    } else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

/**
 * Write the archive `file` of an image with these layers ({ folder, comment }, lowest first), this architecture (as Go
 * names it), the run-time part of its config and the name under which it is found. Returns the image's digest.
 */
export function writeImage(file, { layers, architecture, config, name }) {
  const work = mkdtempSync(join(tmpdir(), 'muster-oci-'))
  const put = (bytes, mediaType) => {
    const digest = digestOf(bytes)
    writeFileSync(join(work, 'blobs', 'sha256', digest.slice('sha256:'.length)), bytes)
    return { mediaType, digest, size: bytes.byteLength }
  }
  const putJson = (value, mediaType) => put(Buffer.from(JSON.stringify(value)), mediaType)
  try {
    mkdirSync(join(work, 'blobs', 'sha256'), { recursive: true })
    const made = layers.map(({ folder, comment }) => {
      setModes(folder)
      const plain = tar(folder)
      return {
        comment,
        diffId: digestOf(plain),
        blob: put(gzipSync(plain, { level: 9 }), `${TYPE}.layer.v1.tar+gzip`),
      }
    })
    const imageConfig = putJson(
      {
        created: EPOCH,
        architecture,
        os: 'linux',
        config,
        rootfs: { type: 'layers', diff_ids: made.map(({ diffId }) => diffId) },
        history: made.map(({ comment }) => ({ created: EPOCH, created_by: comment })),
      },
      `${TYPE}.config.v1+json`,
    )
    const manifest = putJson(
      {
        schemaVersion: 2,
        mediaType: `${TYPE}.manifest.v1+json`,
        config: imageConfig,
        layers: made.map(({ blob }) => blob),
        annotations: config.Labels,
      },
      `${TYPE}.manifest.v1+json`,
    )
    const annotations = { 'org.opencontainers.image.ref.name': name, 'io.containerd.image.name': name }
    const platform = { architecture, os: 'linux' }
    const index = {
      schemaVersion: 2,
      mediaType: `${TYPE}.index.v1+json`,
      manifests: [{ ...manifest, platform, annotations }],
    }
    writeFileSync(join(work, 'index.json'), JSON.stringify(index))
    writeFileSync(join(work, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
    setModes(work)
    writeFileSync(file, tar(work))
    return manifest.digest
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

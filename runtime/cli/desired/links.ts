import { lstat, readlink } from 'node:fs/promises'
import { dirname, join, parse, resolve, sep } from 'node:path'

/** So many links does the system follow on the way to one file. */
const LINKS_MAX = 40

/**
 * Each link on the way to a file, as the path at which the link itself lies: who leads one to somewhere else has another
 * text read, and changes no file that is read. A way that ends nowhere has those up to there.
 */
export async function listLinks(file: string): Promise<string[]> {
  const { root } = parse(resolve(file))
  const links: string[] = []
  // Always without a link in it, so that ".." leads where the system would go.
  let at = root
  let rest = stepsOf(resolve(file))
  for (let step = rest.shift(); step !== undefined && links.length < LINKS_MAX; step = rest.shift()) {
    const next = step === '..' ? dirname(at) : join(at, step)
    const target = await readlink(next).catch(() => null)
    if (target === null) {
      if ((await lstat(next).catch(() => null)) === null) break
      at = next
      continue
    }
    links.push(next)
    if (target.startsWith(sep)) at = root
    rest = [...stepsOf(target), ...rest]
  }
  return links
}

const stepsOf = (path: string): string[] => path.split(sep).filter((step) => step !== '' && step !== '.')

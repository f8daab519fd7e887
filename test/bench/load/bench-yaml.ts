import { configHash } from '../../../lib/model/config-hash.ts'
import { configYaml } from '../../support/push-config.ts'

/** A small config of its own for each number, with its hash. */
export function benchYaml(mark: number): { text: string; hash: string } {
  const text = configYaml(4_317 + mark)
  return { text, hash: configHash(text) }
}

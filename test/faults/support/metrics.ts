import { findFreePort } from '../../../runtime/quickstart/ports.ts'

/** Where a service shows its metrics, and what they say. */
export interface MetricsReader {
  /** For the service's environment. */
  env: { MUSTER_METRICS_ADDR: string }
  /** The value of a sample, by its name with its labels; throws when there is none. */
  read(sample: string): Promise<number>
}

/** Choose an address for the metrics of a service that is to be started. */
export async function chooseMetrics(): Promise<MetricsReader> {
  const address = `127.0.0.1:${await findFreePort('127.0.0.1')}`
  return {
    env: { MUSTER_METRICS_ADDR: address },
    async read(sample) {
      const text = await (await fetch(`http://${address}/metrics`)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `))
      if (line === undefined) throw new Error(`no metric ${sample}`)
      return Number(line.slice(sample.length + 1))
    },
  }
}

import { findFreePort } from '../../../runtime/quickstart/ports.ts'

/** The address at which a service serves its metrics, and a way to read them. */
export interface MetricsReader {
  /** The variable for the service's environment. */
  env: { MUSTER_METRICS_ADDR: string }
  /** The value of a sample, by its name with its labels as they are written; throws when there is none. */
  read(sample: string): Promise<number>
}

/** Choose a free address for the metrics of a service that is not started yet. */
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

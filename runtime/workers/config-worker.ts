import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../../lib/configs/jobs.ts'
import { rememberConfigs } from '../../lib/configs/yaml/parse-memory.ts'
import { serveWorker } from '../../lib/workers/serve.ts'

const readConfig = rememberConfigs()
serveWorker<ConfigJob, ConfigJobResult>((job) => runConfigJob(job, readConfig))

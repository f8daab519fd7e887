import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../configs/jobs.ts'
import { rememberConfigs } from '../configs/parse-memory.ts'
import { serveWorker } from './serve.ts'

const readConfig = rememberConfigs()
serveWorker<ConfigJob, ConfigJobResult>((job) => runConfigJob(job, readConfig))

import { runPasswordJob } from '../../lib/identity/password-job.ts'
import { serveWorker } from '../../lib/workers/serve.ts'

serveWorker(runPasswordJob)

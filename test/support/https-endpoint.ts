import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { judgeAddress } from '../../lib/alerts/address-policy.ts'
import type { WebhookNetwork } from '../../lib/alerts/webhook-client.ts'
import { DIRECT } from '../../lib/outbound/proxy.ts'
import { selfSignedCertificate } from './certificates.ts'

/** A real HTTPS server on this machine that keeps the bodies that were sent to it. */
export interface HttpsEndpoint {
  /** The URL, with a public host name that `network` resolves to this machine. */
  url: string
  bodies: string[]
  /** The real webhook policy, which also allows the loopback address that the endpoint listens on. */
  network: WebhookNetwork
  close(): Promise<void>
}

/** Start an endpoint; `answer` writes each response, and gets how many calls came before. */
export async function startHttpsEndpoint(
  answer: (response: ServerResponse, before: number) => void,
): Promise<HttpsEndpoint> {
  const host = 'hooks.example.com'
  const certificate = selfSignedCertificate([host])
  const bodies: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer(certificate, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'))
      answer(response, bodies.length - 1)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}/alerts`,
    bodies,
    network: {
      resolve: async () => ['127.0.0.1'],
      judgeAddress: (address) => (address === '127.0.0.1' ? { ok: true } : judgeAddress(address)),
      trustedCertificates: certificate.cert,
      timeoutMs: 5_000,
      proxies: DIRECT,
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

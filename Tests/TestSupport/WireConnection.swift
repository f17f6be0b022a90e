internal import Glibc

/// A connection to a bus that failed, or one that did not answer in time.
package struct WireError: Error, CustomStringConvertible {
  package let description: String
}

/// A connection to a bus that writes bytes and reads bytes, and checks, decodes and keeps none of them.
///
/// One thread uses it at a time. Every wait ends after a minute.
package final class WireConnection {
  private let socket: Int32
  private var lastSerial: UInt32 = 0
  /// The name that the bus gave to the connection.
  package private(set) var name = ""

  /// - Throws: `WireError`.
  package init(address: String) throws(WireError) {
    let prefix = "unix:path="
    guard address.hasPrefix(prefix), let path = address.dropFirst(prefix.count).split(separator: ",").first else {
      throw WireError(description: "the address of a socket begins with \(prefix), and this is \(address)")
    }
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // A busy machine needs minutes for the largest messages; only a test that fails ever waits so long.
    var patience = timeval(tv_sec: 300, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(socket, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let isConnected = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isConnected else { throw failure("connect to \(path)") }
    try authenticate()
    let hello = try send(
      .call(to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello"))
    self.name = try reply(to: hello).text
  }

  deinit { close(socket) }

  private func failure(_ what: String) -> WireError {
    WireError(description: "cannot \(what): \(String(cString: strerror(errno)))")
  }

  private func authenticate() throws(WireError) {
    let digits = "\(getuid())".utf8.map { "3\($0 - 48)" }.joined()
    try write(Array("\0AUTH EXTERNAL \(digits)\r\n".utf8))
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") { line += try read(1) }
    guard line.starts(with: "OK ".utf8) else {
      throw WireError(description: "the bus refuses: \(String(decoding: line, as: UTF8.self))")
    }
    try write(Array("BEGIN\r\n".utf8))
  }

  private func write(_ bytes: [UInt8]) throws(WireError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        return Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw failure("send to the bus") }
      done += count
    }
  }

  private func read(_ count: Int) throws(WireError) -> [UInt8] {
    var done = 0
    var isBroken = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while done < count, !isBroken {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[done..<count])
        let read = recv(socket, rest.baseAddress, rest.count, 0)
        if read > 0 { done += read } else { isBroken = true }
      }
      initialized = done
    }
    guard !isBroken else { throw failure("read from the bus") }
    return bytes
  }

  /// Sends a message, and waits for nothing.
  /// - Throws: `WireError`.
  @discardableResult
  package func send(_ draft: WireDraft) throws(WireError) -> UInt32 {
    lastSerial += 1
    try write(draft.header(lastSerial))
    try write(draft.body.bytes)
    return lastSerial
  }

  /// The next message.
  /// - Throws: `WireError`.
  package func receive() throws(WireError) -> WireMessage {
    let start = try read(16)
    guard let rest = WireMessage.rest(after: start) else { throw WireError(description: "no message: \(start)") }
    return WireMessage(start: start, header: try read(rest.header), body: try read(rest.body))
  }

  /// The reply to the call `serial`; `other` is given what comes before it.
  /// - Throws: `WireError`.
  package func reply(
    to serial: UInt32, other: (WireMessage) -> Void = { _ in }
  ) throws(WireError) -> WireMessage {
    while true {
      let message = try receive()
      if message.replySerial == serial { return message }
      other(message)
    }
  }
}

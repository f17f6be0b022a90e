internal import Glibc

/// What is sent to a socket together with file descriptors: `unix(7)`, `SCM_RIGHTS`.
package enum SocketMessage {
  /// Sends `bytes`, and with the first of them `descriptors`.
  /// - Returns: as `sendmsg(2)`, how many bytes were sent, or -1, with the reason in `errno`; it never raises SIGPIPE.
  package static func send(_ bytes: ArraySlice<UInt8>, _ descriptors: [Int32], to socket: Int32, _ flags: Int32)
    -> Int
  {
    bytes.withUnsafeBytes { buffer in
      var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: buffer.baseAddress), iov_len: buffer.count)
      return withUnsafeMutablePointer(to: &part) { part in
        var message = msghdr()
        message.msg_iov = part
        message.msg_iovlen = 1
        let flags = flags | Int32(MSG_NOSIGNAL)
        guard !descriptors.isEmpty else { return sendmsg(socket, &message, flags) }
        var control = control(descriptors)
        return control.withUnsafeMutableBytes { control in
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          return sendmsg(socket, &message, flags)
        }
      }
    }
  }

  /// The control message that passes file descriptors: `cmsg(3)`, whose macros Swift does not import.
  private static func control(_ descriptors: [Int32]) -> [UInt8] {
    let word = MemoryLayout<Int>.size
    let header = (MemoryLayout<cmsghdr>.size + word - 1) / word * word
    let content = descriptors.count * MemoryLayout<Int32>.size
    var bytes = [UInt8](repeating: 0, count: header + (content + word - 1) / word * word)
    bytes.withUnsafeMutableBytes { bytes in
      var message = cmsghdr()
      message.cmsg_len = header + content
      message.cmsg_level = SOL_SOCKET
      message.cmsg_type = Int32(SCM_RIGHTS)
      withUnsafeBytes(of: message) { bytes.copyMemory(from: $0) }
      for (index, descriptor) in descriptors.enumerated() {
        bytes.storeBytes(of: descriptor, toByteOffset: header + index * 4, as: Int32.self)
      }
    }
    return bytes
  }
}

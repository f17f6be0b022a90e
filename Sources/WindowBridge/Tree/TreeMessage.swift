/// The protocol that i3 and sway share: <https://i3wm.org/docs/ipc.html>, `sway-ipc(7)`.
package enum TreeMessage {
  static let magic = Array("i3-ipc".utf8)
  static let headerLength = 14

  /// What is asked, and answered with the same type.
  package enum Kind: UInt32 {
    case runCommand = 0
    case subscribe = 2
    case getTree = 4
  }

  /// What is told of.
  package enum Event: UInt32 {
    case workspace = 0x8000_0000
    case window = 0x8000_0003
    case shutdown = 0x8000_0006
  }

  /// A question as it is sent.
  package static func bytes(_ kind: Kind, _ payload: String = "") -> [UInt8] {
    var bytes = magic
    for number in [UInt32(payload.utf8.count), kind.rawValue] {
      withUnsafeBytes(of: number) { bytes += $0 }
    }
    return bytes + Array(payload.utf8)
  }
}

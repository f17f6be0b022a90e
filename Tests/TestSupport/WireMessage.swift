/// A message that arrived: its header read, its body as it came.
package struct WireMessage: Sendable {
  package enum Kind: UInt8, Sendable {
    case methodCall = 1
    case methodReturn = 2
    case error = 3
    case signal = 4
  }

  package let kind: Kind?
  package let serial: UInt32
  package private(set) var replySerial: UInt32 = 0
  package private(set) var errorName: String?
  package private(set) var member = ""
  package private(set) var sender = ""
  package private(set) var signature = ""
  package let body: [UInt8]

  /// The most that a message's header has: the protocol's own limit of an array.
  private static let headerLimit = 64 << 20

  /// How many bytes follow the 16 of `start` in the same message; nil if they begin none.
  static func rest(after start: [UInt8]) -> (header: Int, body: Int)? {
    guard start.count == 16, start[0] == UInt8(ascii: "l") else { return nil }
    let fields = Int(start.uint32(at: 12))
    guard fields <= headerLimit else { return nil }
    return ((fields + 7) / 8 * 8, Int(start.uint32(at: 4)))
  }

  init(start: [UInt8], header: [UInt8], body: [UInt8]) {
    kind = Kind(rawValue: start[1])
    serial = start.uint32(at: 8)
    self.body = body
    var offset = 0
    let end = Int(start.uint32(at: 12))
    while offset < end {
      let code = header[offset]
      let type = header[offset + 2]
      offset += 4
      switch type {
      case UInt8(ascii: "u"):
        if code == 5 { replySerial = header.uint32(at: offset) }
        offset += 4
      case UInt8(ascii: "g"):
        let length = Int(header[offset])
        signature = String(decoding: header[offset + 1..<offset + 1 + length], as: UTF8.self)
        offset += length + 2
      default:
        let length = Int(header.uint32(at: offset))
        let text = String(decoding: header[offset + 4..<offset + 4 + length], as: UTF8.self)
        switch code {
        case 3: member = text
        case 4: errorName = text
        case 7: sender = text
        default: break
        }
        offset += length + 5
      }
      offset = (offset + 7) / 8 * 8
    }
  }

  /// The first value, if it is a string.
  package var text: String {
    guard signature.hasPrefix("s"), body.count >= 5 else { return "" }
    return String(decoding: body[4..<4 + Int(body.uint32(at: 0))], as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate func uint32(at offset: Int) -> UInt32 {
    self[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

import BridgeJSON
import BrowserBridge
import Testing

/// What arrives from a browser, cut into messages, and how often they count.
@Suite struct FramingTests {
  private static func pieces(_ bytes: [UInt8], by size: Int) -> (pieces: [MessageFraming.Piece], isCutOff: Bool) {
    var framing = MessageFraming()
    var pieces: [MessageFraming.Piece] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      framing.append(bytes[start..<min(start + size, bytes.count)])
      while let piece = framing.next() { pieces.append(piece) }
    }
    return (pieces, framing.isCutOff)
  }

  @Test(arguments: [1, 3, 4, 5, 1000, 2 << 20])
  func messagesComeOutAsTheyWentIn(size: Int) {
    let long = [UInt8](repeating: 7, count: MessageFraming.longestMessage + 1)
    let (one, two) = (Array("{}".utf8), Array("[1]".utf8))
    let frames = [one, [], long, two].map(MessageFraming.frame)
    let all = frames.flatMap { $0 }
    // Byte by byte takes long for the long one.
    guard size > 4 else {
      let short = Self.pieces(frames[0] + frames[1] + frames[3], by: size)
      #expect(short.pieces == [.message(one), .message([]), .message(two)])
      return
    }
    let whole = Self.pieces(all, by: size)
    #expect(whole.pieces == [.message(one), .message([]), .oversized(long.count), .message(two)])
    #expect(!whole.isCutOff)
    for cut in [1, 3, 5, frames[0].count + 2] {
      #expect(Self.pieces(Array(all.prefix(cut)), by: size).isCutOff)
    }
    #expect(Self.pieces([0xff, 0xff, 0xff, 0xff, 1, 2], by: size).pieces == [.oversized(0xffff_ffff)])
  }

  @Test func aLongestMessageIsTaken() {
    let message = [UInt8](repeating: 32, count: MessageFraming.longestMessage)
    #expect(Self.pieces(MessageFraming.frame(message), by: 1 << 16).pieces == [.message(message)])
  }

  @Test func ratesAdmitABurstAndThenSoManyASecond() {
    var rate = MessageRate(perSecond: 10, burst: 3)
    let start = SuspendingClock.now
    // (milliseconds, whether one is admitted then)
    let cases: [(Int, Bool)] = [
      (0, true), (0, true), (0, true), (0, false), (50, false), (100, true), (100, false), (1000, true), (1000, true),
      (1000, true), (1000, false), (1100, true),
    ]
    for (index, (time, isAdmitted)) in cases.enumerated() {
      #expect((rate.admit(at: start + .milliseconds(time)) == nil) == isAdmitted, "case \(index)")
    }
    #expect(rate.admit(at: start + .milliseconds(1150)) == .milliseconds(50))
  }

  @Test func textsBecomeJSON() throws {
    let value = JSONText.object([
      "text": .text("a\"\\\n\u{0}ä😀"), "empty": .text(""), "list": .array([.integer(-1), .real(0.5), .boolean(true)]),
    ])
    let bytes = try #require(value.bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self) == #"{"empty":"","list":[-1,0.5,true],"text":"a\"\\\n\u0000ä😀"}"#)
    let read = try #require(JSON(bytes))
    #expect(read["text"]?.text == "a\"\\\n\u{0}ä😀")
    #expect(read["list"]?.elements.map(\.real) == [-1, 0.5, nil])
    #expect(read["list"]?.elements.map(\.boolean) == [nil, nil, true])
    #expect(JSONText.array([.real(.nan)]).bytes == nil)
    #expect(JSONText.object(["x": .real(.infinity)]).bytes == nil)
  }

  @Test(arguments: [
    // (what JavaScript writes, the text of it)
    (#""\ud83d""#, "\u{fffd}"), (#""\ud83d\ude00""#, "😀"), (#""\uDE00\ud83d\ude00\uD83Dx""#, "\u{fffd}😀\u{fffd}x"),
    (#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}"), (#""\\\ud83d""#, "\\\u{fffd}"), (#""\ud83d\\\"""#, "\u{fffd}\\\""),
  ])
  func halvesOfCharactersAreReplaced(json: String, text: String) throws {
    #expect(try #require(JSON(Array(json.utf8))).text == text)
  }

  @Test func numbersOfAnySizeAreRead() throws {
    let json = try #require(JSON(Array(#"{"document":7,"value":99999999999999999999,"tab":9007199254740992}"#.utf8)))
    #expect(json["document"]?.number == 7 && json["tab"]?.integer == 1 << 53)
    #expect(json["value"]?.real == 1e20 && json["value"]?.integer == nil)
  }
}

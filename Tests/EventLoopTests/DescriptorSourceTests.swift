import EventLoop
import Foundation
import TestSupport
import Testing

@Suite struct DescriptorSourceTests {
  @Test func whatIsCancelledIsAskedNoMoreAndKeptNoLonger() throws {
    let (loop, pipe) = (EventLoop(), Pipe())
    var readings = 0
    var source: DescriptorSource? = DescriptorSource(pipe.fileHandleForReading.fileDescriptor, .readable, on: loop) {
      readings += 1
    }
    weak let kept = source
    pipe.fileHandleForWriting.write(Data([0]))
    try loop.turn(until: "something to read") { readings == 1 }
    source?.cancel()
    source = nil
    #expect(kept == nil)
    loop.turn(waitingAtMost: .zero)
    #expect(readings == 1)
  }
}

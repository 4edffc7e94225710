$TACHO roofline --peak-tflops bf17=3 sample.pt.trace.json.gz
